/**
 * How learnings from earlier posts change the composer's drafts. The seeds are fixed, and so are
 * the counts.
 */
import { describe, expect, test } from 'bun:test'
import type { BriefLearning, Draft, DraftBrief } from '#domain/growth/drafting/draft'
import type { Profile } from '#domain/growth/drafting/profile'
import { createComposer } from '#port/model/composer/composer'
import { softwareProfile, studioProfile } from '#test/support/growth/profiles'
import { briefWith, neverAborts } from '#test/support/model/briefs'
import { inlineWorker } from '#test/support/model/inline-worker'

const composer = createComposer(inlineWorker)
const SEEDS = Array.from({ length: 40 }, (_, seed) => `seed-${seed}`)

const compose = async (changes: Partial<DraftBrief>): Promise<Draft[]> =>
  (await composer.draft(briefWith(changes), neverAborts())).drafts

/** Two drafts of each of the same briefs. */
const drafted = async (profile: Profile, ...learnings: BriefLearning[]): Promise<Draft[]> =>
  (await Promise.all(SEEDS.map((seed) => compose({ profile, learnings, count: 2, seed })))).flat()

const endsOnQuestion = ({ body }: Draft) => body.endsWith('?')
const speaksOf =
  (word: string) =>
  ({ body }: Draft) =>
    body.toLowerCase().includes(word)

const cases: readonly (readonly [string, Profile, string, (draft: Draft) => boolean])[] = [
  ['a shape', softwareProfile, 'Question posts', endsOnQuestion],
  ['lists', softwareProfile, 'Posts with bullet points', ({ body }) => /^- /m.test(body)],
  ['a topic', softwareProfile, 'The first sales hire', speaksOf('sales hire')],
  ['another topic', studioProfile, 'Posts about the boiler', speaksOf('boiler')],
]

describe.each(cases)('a learning about %s', (_, profile, note, is) => {
  const learning = (kind: BriefLearning['kind']): BriefLearning => ({
    id: `id of ${kind}`,
    kind,
    note,
  })

  test('that worked brings more of it, and the drafts name the learning', async () => {
    const before = (await drafted(profile)).filter(is)
    const after = (await drafted(profile, learning('worked'))).filter(is)
    expect(after.length).toBeGreaterThan(before.length * 1.4)
    for (const { learnings, rationale } of after) {
      expect(learnings).toEqual(['id of worked'])
      expect(rationale).toContain(`it acts on the learning “${note}”`)
    }
  })

  test('that flopped brings none of it, and a draft that avoids it says so', async () => {
    const after = await drafted(profile, learning('flopped'))
    expect(after.filter(is)).toEqual([])
    expect(new Set(after.flatMap(({ learnings }) => learnings))).toEqual(new Set(['id of flopped']))
    const named = after.filter(({ rationale }) =>
      rationale.includes(`it keeps clear of “${note}”, which flopped`),
    )
    expect(named.length).toBe(SEEDS.length)
  })
})

test("an experiment's arm counts like a learning that worked, and is named as an arm", async () => {
  const trial = 'Posts that end on a question get more replies'
  const run = async (changes: Partial<DraftBrief>) =>
    (
      await Promise.all(
        SEEDS.map((seed) => compose({ profile: softwareProfile, count: 2, seed, ...changes })),
      )
    ).flat()
  const [before, after] = [await run({}), await run({ trial })]
  expect(after.filter(endsOnQuestion).length).toBeGreaterThan(
    before.filter(endsOnQuestion).length * 1.4,
  )
  const named = after.filter(({ rationale }) =>
    rationale.includes(`it acts on the experiment's arm “${trial}”`),
  )
  expect(named.length).toBeGreaterThan(SEEDS.length)
  for (const { learnings } of after) expect(learnings).toEqual([])
})

test('what flopped is drafted if there is nothing else, without naming the learning', async () => {
  const profile: Profile = {
    ...softwareProfile,
    writing_dna: {
      ...softwareProfile.writing_dna,
      stories: ['The boiler broke on a Monday. Eleven people came anyway.'],
      proof: [],
      use: [],
    },
  }
  const learnings: BriefLearning[] = [
    { id: 'flop', kind: 'flopped', note: 'Posts about the boiler' },
  ]
  const drafts = await compose({ profile, learnings, count: 1 })
  expect(drafts.map(({ body }) => body).join()).toMatch(/boiler/i)
  expect(drafts[0]!.learnings).toEqual([])
})

test('a learning about a kind of post and a topic means both together', async () => {
  const story = speaksOf('bus driver')
  const note = 'Stories about the bus driver'
  const [before, after] = [
    await drafted(studioProfile),
    await drafted(studioProfile, { id: 'bus', kind: 'worked', note }),
  ]
  expect(after.filter(story).length).toBeGreaterThan(before.filter(story).length * 1.4)
  const named = after.filter(({ learnings }) => learnings.length > 0)
  expect(named.length).toBeGreaterThan(SEEDS.length / 4)
  expect(named.filter((draft) => !story(draft))).toEqual([])
})

test('a learning that doing without something worked keeps it out of the drafts', async () => {
  const drafts = await drafted(softwareProfile, {
    id: 'plain',
    kind: 'worked',
    note: 'Posts without questions',
  })
  expect(drafts.filter(endsOnQuestion)).toEqual([])
  for (const { learnings } of drafts) expect(learnings).toEqual(['plain'])
})

test('a phrase about something that flopped ends no post', async () => {
  const saying = 'Onboarding is a promise, not a tour.'
  const ends = ({ body }: Draft) => body.endsWith(saying)
  expect((await drafted(softwareProfile)).some(ends)).toBeTrue()
  expect(
    (await drafted(softwareProfile, { id: 'flop', kind: 'flopped', note: 'Onboarding' })).some(
      ends,
    ),
  ).toBeFalse()
})

test('a focus on what flopped is still followed', async () => {
  const learnings: BriefLearning[] = [
    { id: 'flop', kind: 'flopped', note: 'Posts about the boiler' },
  ]
  const ask = (seed: string) =>
    compose({ profile: studioProfile, learnings, count: 1, seed, focus: 'the boiler that broke' })
  const drafts = (await Promise.all(SEEDS.map(ask))).flat()
  expect(drafts.filter(speaksOf('boiler')).length).toBeGreaterThan(SEEDS.length * 0.8)
})
