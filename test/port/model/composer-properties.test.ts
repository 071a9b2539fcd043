/** What the composer never does, whatever the brief. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Draft, DraftBrief } from '#domain/growth/drafting/draft'
import { containsPhrase, foldText } from '#domain/growth/drafting/phrase'
import { draftFacts, overlapOf, wordSet } from '#port/model/checks/draft'
import { composeDrafts } from '#port/model/composer/drafts'
import { fixedLines } from '#port/model/composer/glue'
import { GenerationError } from '#port/model/drafter'
import { engineerProfile, softwareProfile, studioProfile } from '#test/support/growth/profiles'
import { briefWith } from '#test/support/model/briefs'

const folded = (texts: readonly string[]): Set<string> =>
  new Set(texts.flatMap((text) => [...wordSet(text)]))
const profiles = fc.constantFrom(softwareProfile, studioProfile, engineerProfile)
const focuses = fc.constantFrom(
  '',
  'onboarding',
  'first kiln load',
  'Write three posts about tests. Never name Acme.',
  'We moved to Leeds in 2024.',
)
const subset = (items: readonly string[]) => fc.subarray([...items])
const briefs: fc.Arbitrary<DraftBrief> = profiles.chain((profile) =>
  fc
    .record({
      stories: subset(profile.writing_dna.stories),
      proof: subset(profile.writing_dna.proof),
      use: subset(profile.writing_dna.use),
      avoid: subset(['the', 'onboarding', 'kiln', 'table', 'what', 'six']),
      language: fc.constantFrom('en', 'en-GB', 'de', 'ja'),
      lowercase: fc.boolean(),
      focus: focuses,
      count: fc.integer({ min: 1, max: 20 }),
      maxLength: fc.integer({ min: 60, max: 500 }),
      seed: fc.string(),
    })
    .map(({ stories, proof, use, avoid, language, lowercase, ...rest }) =>
      briefWith({
        ...rest,
        profile: {
          ...profile,
          language,
          writing_dna: {
            ...profile.writing_dna,
            stories,
            proof,
            use,
            avoid,
            voice_rules: lowercase ? ['all lowercase'] : ['no exclamation marks'],
          },
        },
      }),
    ),
)

/** The drafts of a brief; none if it gives a hint. */
const draftsOf = (brief: DraftBrief): Draft[] => {
  try {
    return composeDrafts(brief)
  } catch (cause) {
    if (cause instanceof GenerationError && cause.hint.length > 10) return []
    throw cause
  }
}

const always = (holds: (brief: DraftBrief, drafts: Draft[]) => void | Promise<void>) =>
  fc.assert(
    fc.asyncProperty(briefs, async (brief) => holds(brief, await draftsOf(brief))),
    { numRuns: Number(process.env.RUNS ?? 150) },
  )

describe('what the composer never does', () => {
  test('a body is never longer than the network accepts', () =>
    always((brief, drafts) => {
      for (const { body } of drafts)
        expect(brief.measure(body)).toBeLessThanOrEqual(brief.maxLength)
    }))

  test('a body never contains an avoided phrase', () =>
    always((brief, drafts) => {
      for (const { body } of drafts)
        for (const phrase of brief.profile.writing_dna.avoid)
          expect(containsPhrase(body, phrase)).toBeFalse()
    }))

  test('every word of a body is from the profile, the focus or the fixed lines', () =>
    always((brief, drafts) => {
      const known = folded([draftFacts(brief), ...fixedLines])
      for (const { body } of drafts)
        expect([...wordSet(body)].filter((word) => !known.has(word))).toEqual([])
    }))

  test('every number of a body is in the profile or the focus', () =>
    always((brief, drafts) => {
      for (const { body } of drafts)
        for (const [number] of body.matchAll(/\d[\d.,]*/g))
          expect(draftFacts(brief)).toContain(number.replace(/[.,]$/, ''))
    }))

  test('two posts of a batch are never alike', () =>
    always((_, drafts) => {
      for (const [index, draft] of drafts.entries())
        for (const other of drafts.slice(index + 1))
          expect(overlapOf(wordSet(draft.body), wordSet(other.body))).toBeLessThanOrEqual(0.8)
    }))

  test('a draft names only stories of the profile whose words are in its body', () =>
    always((brief, drafts) => {
      for (const { stories, body } of drafts)
        for (const story of stories) {
          expect(brief.profile.writing_dna.stories).toContain(story)
          expect(overlapOf(wordSet(body), wordSet(story))).toBeGreaterThan(0)
        }
    }))

  test('the same brief gives the same drafts', () =>
    always(async (brief, drafts) => expect(await draftsOf(brief)).toEqual(drafts)))

  test('a draft in another language has no English line', () =>
    always((brief, drafts) => {
      if (brief.profile.language.startsWith('en')) return
      const bodies = drafts.flatMap(({ body }) => body.split('\n').map(foldText))
      for (const line of fixedLines) expect(bodies).not.toContain(foldText(line))
    }))
})
