/** What the composer never does, whatever the brief. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Draft, DraftBrief } from '#domain/growth/drafting/draft'
import { containsPhrase, foldText } from '#domain/growth/drafting/phrase'
import { draftFacts, overlapOf, wordSet } from '#port/model/checks/draft'
import { composeDrafts } from '#port/model/composer/drafts'
import { fixedLines } from '#port/model/composer/glue'
import { GenerationError } from '#port/model/drafter'
import { engineerProfile, softwareProfile, studioProfile } from '#test/support/growth/profiles'
import { briefWith } from '#test/support/model/briefs'
import { runs } from '#test/support/property'

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

/** Nothing that the person has not written, and nothing that they do not want. */
const expectOwnWords = (brief: DraftBrief, { body }: Draft): void => {
  const facts = draftFacts(brief)
  const known = folded([facts, ...fixedLines])
  expect([...wordSet(body)].filter((word) => !known.has(word))).toEqual([])
  for (const [number] of body.matchAll(/\d[\d.,]*/g))
    expect(facts).toContain(number.replace(/[.,]$/, ''))
  for (const phrase of brief.profile.writing_dna.avoid)
    expect(containsPhrase(body, phrase)).toBeFalse()
  if (brief.profile.language.startsWith('en')) return
  const lines = body.split('\n').map(foldText)
  for (const line of fixedLines) expect(lines).not.toContain(foldText(line))
}

/** Only stories of the profile, whose words are in the draft. */
const expectOwnStories = ({ profile }: DraftBrief, { body, stories }: Draft): void => {
  for (const story of stories) {
    expect(profile.writing_dna.stories).toContain(story)
    expect(overlapOf(wordSet(body), wordSet(story))).toBeGreaterThan(0)
  }
}

test('drafts fit, say and name only what is the person’s, are never alike, and are the same for the same brief', () => {
  const property = (brief: DraftBrief) => {
    const drafts = draftsOf(brief)
    for (const [index, draft] of drafts.entries()) {
      expect(brief.measure(draft.body)).toBeLessThanOrEqual(brief.maxLength)
      expectOwnWords(brief, draft)
      expectOwnStories(brief, draft)
      for (const other of drafts.slice(index + 1))
        expect(overlapOf(wordSet(draft.body), wordSet(other.body))).toBeLessThanOrEqual(0.8)
    }
    expect(draftsOf(brief)).toEqual(drafts)
  }
  fc.assert(fc.property(briefs, property), runs(300))
})
