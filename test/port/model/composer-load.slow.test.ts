import { describe, expect, test } from 'bun:test'
import type { Draft, DraftBrief } from '#domain/growth/drafting/draft'
import { containsPhrase } from '#domain/growth/drafting/phrase'
import { emptyProfile, type Profile } from '#domain/growth/drafting/profile'
import { composeDrafts } from '#port/model/composer/drafts'
import { GenerationError } from '#port/model/drafter'
import { briefWith } from '#test/support/model/briefs'
import { fullBrief, fullProfile, hardBriefs } from './largest-profile.ts'

/** The drafts, none if the composer gives a hint instead, and how many lengths it measured. */
const measuredDrafts = (brief: DraftBrief): { drafts: Draft[]; measured: number } => {
  let measured = 0
  const measure = (text: string) => {
    measured += 1
    return brief.measure(text)
  }
  try {
    const drafts = composeDrafts({ ...brief, measure })
    return { drafts, measured }
  } catch (cause) {
    if (!(cause instanceof GenerationError)) throw cause
    return { drafts: [], measured }
  }
}

const draftsOf = (changes: Partial<DraftBrief>): Draft[] => composeDrafts(briefWith(changes))

const withDna = (dna: Partial<Profile['writing_dna']>): Profile => ({
  ...emptyProfile,
  writing_dna: { ...emptyProfile.writing_dna, ...dna },
})

describe('the largest profiles that the contract allows', () => {
  test.each(Object.keys(hardBriefs))('%s: the batch is finished with bounded work', (name) => {
    const brief = hardBriefs[name]?.() ?? briefWith()
    const { drafts, measured } = measuredDrafts(brief)
    expect(measured).toBeLessThan(4_000)
    for (const { body } of drafts) {
      expect(brief.measure(body)).toBeLessThanOrEqual(brief.maxLength)
      for (const phrase of brief.profile.writing_dna.avoid)
        expect(containsPhrase(body, phrase)).toBeFalse()
    }
  })

  test('a full profile yields a full batch', () => {
    expect(composeDrafts(fullBrief())).toHaveLength(20)
  })
})

describe('what is read of a large profile', () => {
  const others = Array.from(
    { length: 99 },
    (_, index) =>
      `Last spring we lost ${index + 20} plates to the rain, and ${index} more to the cat.`,
  )

  test('of too many stories, those on the focus are used', () => {
    const stories = [...others, 'The old boiler broke in January and nobody noticed for nine days.']
    for (const seed of ['a', 'b', 'c', 'd', 'e']) {
      const [first] = draftsOf({
        profile: withDna({ stories }),
        focus: 'the old boiler',
        count: 1,
        seed,
      })
      expect(first?.body).toMatch(/boiler/i)
    }
  })

  test('a story is found among ninety-nine that the avoid list excludes', () => {
    const stories = [...others, 'The old boiler broke in January and nobody noticed for nine days.']
    const drafts = draftsOf({ profile: withDna({ stories, avoid: ['plates'] }) })
    expect(drafts.map(({ body }) => body).join()).toContain('The old boiler broke in January')
  })

  test('which stories are used depends on the seed', () => {
    const bodies = (seed: string) =>
      draftsOf({ profile: withDna({ stories: others }), count: 20, seed }).map(({ body }) => body)
    expect(bodies('one')).not.toEqual(bodies('two'))
  })

  test('a story too long to read whole keeps its ending', () => {
    const middle = 'We tried another glaze, and it ran off the mug again. '.repeat(33)
    const stories = Array.from(
      { length: 100 },
      (_, index) =>
        `We lost load ${index} to a cold kiln. ${middle}Load ${index} taught me to wait until noon.`,
    )
    const drafts = ['a', 'b', 'c'].flatMap((seed) =>
      draftsOf({ profile: withDna({ stories }), count: 20, seed }),
    )
    const reversals = drafts.filter(({ format }) => format === 'reversal')
    expect(reversals.length).toBeGreaterThan(0)
    for (const { body } of reversals)
      expect(body).toMatch(/^Load \d+ taught me to wait until noon\./)
  })

  test('a sentence that is cut off is not posted', () => {
    const drafts = composeDrafts(fullBrief())
    const sentences = new Set(
      fullProfile().writing_dna.stories.flatMap((story) => story.split(/(?<=\.) /)),
    )
    const told = drafts
      .flatMap(({ body }) => body.split(/\n+|(?<=\.) /))
      .filter((text) => /^(?:We lost|I used to|Now every)/.test(text))
    expect(told.length).toBeGreaterThan(0)
    expect(told.filter((text) => !sentences.has(text))).toEqual([])
  })

  test('a profile whose sentences are all too long for a post gives a hint', () => {
    const stories = Array.from(
      { length: 100 },
      (_, index) => `We ${'really '.repeat(250)}tried ${index}.`,
    )
    expect(() => draftsOf({ profile: withDna({ stories }) })).toThrow('280 characters')
  })
})
