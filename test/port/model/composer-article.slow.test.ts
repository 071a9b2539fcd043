import { describe, expect, test } from 'bun:test'
import type { ArticleBrief, ArticleDraft } from '#domain/growth/drafting/draft'
import { foldText } from '#domain/growth/drafting/phrase'
import { emptyProfile, type Profile } from '#domain/growth/drafting/profile'
import { checkArticle, countWords } from '#port/model/checks/article'
import { draftFacts } from '#port/model/checks/draft'
import { createComposer } from '#port/model/composer/composer'
import { fixedLines } from '#port/model/composer/glue'
import { GenerationError } from '#port/model/drafter'
import { engineerProfile, softwareProfile, studioProfile } from '#test/support/growth/profiles'
import { articleBrief, neverAborts } from '#test/support/model/briefs'
import { inlineWorker } from '#test/support/model/inline-worker'
import { fullProfile, hardBriefs } from './largest-profile.ts'

const compose = async (changes: Partial<ArticleBrief> = {}) =>
  (await createComposer(inlineWorker).article(articleBrief(changes), neverAborts())).article

const hintOf = async (changes: Partial<ArticleBrief>): Promise<string> => {
  const cause = await compose(changes).catch((error: unknown) => error)
  return cause instanceof GenerationError ? cause.hint : String(cause)
}

const withDna = (dna: Partial<Profile['writing_dna']>, more: Partial<Profile> = {}): Profile => ({
  ...softwareProfile,
  ...more,
  writing_dna: { ...softwareProfile.writing_dna, ...dna },
})

const topics: [string, Profile, string][] = [
  ['software', softwareProfile, 'onboarding'],
  ['studio', studioProfile, 'first bowls'],
  ['engineer', engineerProfile, 'freshness checks'],
]

/** The words without punctuation, so that a sentence is found again whatever surrounds it. */
const wordsOnly = (text: string): string =>
  (foldText(text).match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')

describe.each(topics)('an article of the %s profile', (_, profile, topic) => {
  test('states only what the person has written, and no sentence twice', async () => {
    for (const seed of ['a', 'b', 'c']) {
      const { title, text } = await compose({ profile, topic, seed })
      const known = wordsOnly(
        [draftFacts({ profile, focus: topic, products: [] }), profile.audience].join('\n'),
      )
      const lines = [title, ...text.split('\n')].filter(
        (line) => line !== '' && !fixedLines.includes(line),
      )
      const sentences = lines.flatMap((line) =>
        line.replace(/^- /, '').split(/(?<=[.?!])\s+(?=\p{Lu})/u),
      )
      const audience = wordsOnly(profile.audience)
      for (const sentence of sentences)
        expect(
          known.includes(wordsOnly(sentence)) || wordsOnly(sentence).endsWith(audience),
        ).toBeTrue()
      const said = sentences.map(wordsOnly)
      expect(said.filter((sentence, index) => said.indexOf(sentence) < index)).toEqual([])
    }
  })

  test('is the same for the same brief', async () => {
    expect(await compose({ profile, topic })).toEqual(await compose({ profile, topic }))
  })
})

test('pieces about the topic come first', async () => {
  const { text } = await compose()
  expect(text.indexOf('onboarding eleven times')).toBeLessThan(text.indexOf('AI assistant'))
})

test('what worked comes earlier, what flopped comes later, and the article names the learning', async () => {
  const learning = (kind: 'worked' | 'flopped') => [
    { id: 'l-1', kind, note: 'the assistant, turned on by accident' },
  ]
  const placeOf = async (learnings: ArticleBrief['learnings']) =>
    (await compose({ learnings })).text.indexOf('AI assistant')
  const [worked, without, flopped] = [
    await placeOf(learning('worked')),
    await placeOf([]),
    await placeOf(learning('flopped')),
  ]
  expect(worked).toBeLessThan(without)
  expect(without).toBeLessThanOrEqual(flopped)
  expect((await compose({ learnings: learning('worked') })).learnings).toEqual(['l-1'])
  expect((await compose({ learnings: learning('flopped') })).learnings).toEqual([])
})

test('a product is mentioned, in its own words, if it is about the topic', async () => {
  const products = [
    { name: 'Loopdesk', one_liner: 'onboarding that keeps its promise', url: null },
    { name: 'Kilnhub', one_liner: 'glaze recipes for potters', url: null },
  ]
  const { text } = await compose({ products })
  expect(text).toContain('Loopdesk: onboarding that keeps its promise.')
  expect(text).not.toContain('Kilnhub')
})

test('an article shorter than requested says so, and what to do', async () => {
  const { text, rationale } = await compose()
  expect(rationale).toContain(`It has ${countWords(text)} of about 600 words`)
  expect(rationale).toContain('add stories and proof')
})

test('a rich profile fills the requested length, and no more', async () => {
  for (const words of [600, 1_200, 2_400]) {
    const { text, rationale } = await compose({ profile: fullProfile(), topic: 'kilns', words })
    expect(countWords(text)).toBeGreaterThan(words * 0.5)
    expect(countWords(text)).toBeLessThan(words * 1.25)
    expect(rationale).not.toContain('undefined')
  }
})

test('the rationale names a point that the profile says nothing about', async () => {
  const { rationale } = await compose({ points: ['Onboarding', 'Zebras'] })
  expect(rationale).toContain('Check the text under “Zebras”')
})

test.each([
  ['an instruction', 'Write an article about onboarding', 'Onboarding'],
  ['a topic', 'time to first value', 'Time to first value'],
  ['a question', 'Why do users leave in week one?', 'Why do users leave in week one?'],
  ['an instruction without about', 'Explain how onboarding fails', 'How onboarding fails'],
])('the title of %s', async (_, topic, title) => {
  expect((await compose({ topic })).title).toBe(title)
})

test('an article in another language has no English line', async () => {
  const { text } = await compose({ profile: { ...softwareProfile, language: 'de' } })
  expect(text.split('\n').filter((line) => fixedLines.includes(line))).toEqual([])
})

test.each([
  [
    'an empty profile',
    { profile: emptyProfile },
    "add stories and proof to the profile's writing_dna",
  ],
  ['too little for the length', { words: 2_400 }, 'ask for a short one'],
  [
    'one story alone',
    { profile: withDna({ stories: ['Onboarding failed us. We fixed it.'], proof: [], use: [] }) },
    'of about 600 words; add stories',
  ],
  [
    'a topic that the profile does not know',
    { topic: 'volcanoes' },
    'says nothing about the topic',
  ],
  [
    'more points than material',
    {
      profile: withDna({ stories: softwareProfile.writing_dna.stories.slice(0, 1), proof: [] }),
      points: ['a b', 'c d'],
    },
    'the outline has 2 points',
  ],
  [
    'an avoided phrase in the topic',
    { topic: 'synergy of onboarding' },
    'the topic or the outline holds a phrase of the avoid list',
  ],
])('%s is refused with a hint', async (_, changes, hint) => {
  expect(await hintOf(changes)).toContain(hint)
})

test.each(Object.keys(hardBriefs))(
  'the largest profile that the contract allows, %s, gives a valid article or a hint',
  async (name) => {
    const { profile } = hardBriefs[name]!()
    const brief = articleBrief({
      profile,
      topic: 'kilns',
      words: 2_400,
      points: ['The kiln', 'The glaze'],
    })
    const made = await createComposer(inlineWorker)
      .article(brief, neverAborts())
      .catch((cause: unknown) => cause)
    if (made instanceof GenerationError)
      return expect(made.hint).toMatch(/add stories and proof|ask for a short one/)
    expect(checkArticle((made as { article: ArticleDraft }).article, brief)).toEqual([])
  },
)
