import { describe, expect, test } from 'bun:test'
import type { Draft, DraftBrief, RecentPost } from '#domain/growth/drafting/draft'
import { emptyProfile, type Profile } from '#domain/growth/drafting/profile'
import { overlapOf, wordSet } from '#port/model/checks/draft'
import { createComposer } from '#port/model/composer/composer'
import { composeDrafts } from '#port/model/composer/drafts'
import { GenerationError } from '#port/model/drafter'
import { drafterCases } from '#test/cases/drafter'
import { engineerProfile, softwareProfile, studioProfile } from '#test/support/growth/profiles'
import { briefWith } from '#test/support/model/briefs'
import { inlineWorker } from '#test/support/model/inline-worker'

const compose = async (changes: Partial<DraftBrief> = {}): Promise<Draft[]> =>
  composeDrafts(briefWith(changes))

const withDna = (dna: Partial<Profile['writing_dna']>, rest: Partial<Profile> = {}): Profile => ({
  ...emptyProfile,
  ...rest,
  writing_dna: { ...emptyProfile.writing_dna, ...dna },
})

const hintOf = (changes: Partial<DraftBrief>): Promise<string> =>
  compose(changes).then(
    () => 'drafts were delivered',
    (cause) => (cause instanceof GenerationError ? cause.hint : String(cause)),
  )

/** Consecutive batches, each given those before it as recent posts. */
const inSequence = async (profile: Profile, batches: number, count = 5): Promise<Draft[][]> => {
  const all: Draft[][] = []
  for (let batch = 0; batch < batches; batch += 1)
    all.push(
      await compose({ profile, count, recent: all.flat().reverse(), seed: `batch-${batch}` }),
    )
  return all
}

describe('composer', () =>
  drafterCases(async () => ({
    drafter: createComposer(inlineWorker),
    async [Symbol.asyncDispose]() {},
  })))

describe('what the composer makes of a profile', () => {
  test.each([
    ['software', softwareProfile],
    ['studio', studioProfile],
    ['engineer', engineerProfile],
  ])('%s: four batches of five in a row, none repeating an earlier post', async (_, profile) => {
    const batches = await inSequence(profile, 4)
    expect(batches.map(({ length }) => length)).toEqual([5, 5, 5, 5])
    const posts: RecentPost[] = batches.flat()
    for (const [index, post] of posts.entries())
      for (const other of posts.slice(index + 1))
        expect(overlapOf(wordSet(post.body), wordSet(other.body))).toBeLessThanOrEqual(0.8)
  })

  test('a batch of five opens in at least four ways', async () => {
    for (const profile of [softwareProfile, studioProfile, engineerProfile])
      for (const seed of ['a', 'b', 'c', 'd'])
        expect(
          new Set((await compose({ profile, seed })).map(({ hook }) => hook)).size,
        ).toBeGreaterThanOrEqual(4)
  })

  test('the composer uses at least fourteen hooks and ten formats', async () => {
    const drafts: Draft[] = []
    for (const profile of [softwareProfile, studioProfile, engineerProfile])
      for (let seed = 0; seed < 40; seed += 1)
        drafts.push(
          ...(await compose({
            profile,
            seed: String(seed),
            focus: seed % 3 === 0 ? 'onboarding' : '',
          })),
        )
    expect(new Set(drafts.map(({ hook }) => hook)).size).toBeGreaterThanOrEqual(14)
    expect(new Set(drafts.map(({ format }) => format)).size).toBeGreaterThanOrEqual(10)
  })

  test('no sentence of a story returns under the same hook', async () => {
    const posts = (await inSequence(softwareProfile, 4)).flat()
    const sentences = softwareProfile.writing_dna.stories.flatMap((story) =>
      story.split(/(?<=[.?])\s/),
    )
    for (const sentence of sentences) {
      const hooks = posts.filter(({ body }) => body.includes(sentence)).map(({ hook }) => hook)
      expect(new Set(hooks).size).toBe(hooks.length)
    }
  })

  test('a phrase of the person appears in at most one post of a batch', async () => {
    for (let seed = 0; seed < 30; seed += 1) {
      const drafts = await compose({ seed: String(seed) })
      expect(
        drafts.filter(({ body }) => body.includes('Onboarding is a promise')).length,
      ).toBeLessThanOrEqual(1)
    }
  })

  test('every line is a bullet, a heading or a whole sentence', async () => {
    for (const profile of [softwareProfile, studioProfile, engineerProfile])
      for (const { body } of (await inSequence(profile, 4)).flat())
        for (const line of body.split('\n').filter((text) => text !== ''))
          expect(line).toMatch(/^- \S.*[^\s,;:]$|[.?"]$|:$|— Dana, Head of CS at Parcelwise$/)
  })

  test('names in lower case stay so, and other sentences begin with a capital', async () => {
    const drafts = (await inSequence(engineerProfile, 4)).flat()
    const bodies = drafts.map(({ body }) => body).join('\n')
    expect(bodies).toMatch(/dbt tests caught/)
    expect(bodies).not.toMatch(/Dbt|^cut warehouse/m)
  })
})

describe('what steers the composer', () => {
  test('a focus decides which stories are told', async () => {
    const drafts = await compose({ profile: studioProfile, focus: 'the cold boiler', count: 1 })
    expect(drafts[0]?.body).toMatch(/boiler/)
  })

  test('a long briefing steers the batch and is not posted', async () => {
    const focus = `Please write about onboarding tickets for our autumn campaign. ${'Do not mention the Zurich office. '.repeat(30)}`
    for (const { body } of await compose({ focus }))
      expect(body).not.toMatch(/campaign|Zurich|please/i)
  })

  test('news in the focus is told in its own words', async () => {
    const drafts = await compose({
      profile: studioProfile,
      focus: 'We opened a second studio in Bedminster today. It has eight wheels.',
    })
    expect(drafts.map(({ body }) => body).join('\n')).toContain(
      'We opened a second studio in Bedminster today.',
    )
    expect(drafts.find(({ hook }) => hook === 'news')?.stories).toEqual([])
  })

  test('a pattern is followed and named in the rationale, and its text is not posted', async () => {
    const pattern = 'I used to X. Now I Y.'
    const profile = withDna({
      stories: ['I used to answer mail at night. Nobody slept well. Now I answer at nine.'],
      patterns: [pattern],
    })
    const drafts = await compose({ profile, seed: 'p' })
    expect(drafts.map(({ body }) => body).join()).not.toContain('X')
    expect(
      drafts.some(
        ({ format, rationale }) => format === 'before-after' && rationale.includes('I used to X'),
      ),
    ).toBeTrue()
  })

  test('voice rules that form can follow are followed', async () => {
    const voice_rules = [
      'all lowercase',
      'no exclamation marks',
      'no emoji',
      'no questions',
      'no lists',
      'under 120 characters',
      'never say "mug"',
    ]
    const stories = [
      'We fired the kiln twice! It cracked 🎉 once. The second load held!',
      'A mug broke in the sink. Nobody cried.',
    ]
    const drafts = await compose({
      profile: withDna({
        stories,
        proof: ['212 guests rated us 4.9!', 'Open since 2012'],
        voice_rules,
      }),
    })
    for (const { body } of drafts) {
      expect(body).toBe(body.toLowerCase())
      expect(body).not.toMatch(/[!?🎉]|^- |\bmug\b/mu)
      expect(body.length).toBeLessThanOrEqual(120)
    }
  })
})

describe('when the composer cannot draft', () => {
  test('an empty profile and focus give a hint to add stories or proof', async () => {
    expect(await hintOf({ profile: emptyProfile })).toBe(
      "add stories or proof to the profile's writing_dna",
    )
  })

  test('an avoid list that excludes everything gives a hint', async () => {
    expect(
      await hintOf({ profile: withDna({ stories: ['We love synergy.'], avoid: ['SYNERGY'] }) }),
    ).toContain('avoid list')
  })

  test('sentences too long for the network give a hint with its limit', async () => {
    expect(
      await hintOf({ profile: withDna({ stories: [`We ${'really '.repeat(60)}tried.`] }) }),
    ).toContain('280 characters')
  })

  test('a profile whose stories are all told gives a hint to add material', async () => {
    const profile = withDna({
      stories: ['We rebuilt the kiln in nine days and lost two of them to rain.'],
    })
    expect(await hintOf({ profile, recent: await compose({ profile }) })).toContain('recent posts')
  })

  test('a posted sentence does not return under another hook or with another ending', async () => {
    const proof = 'We have fired 900 loads without a crack'
    const recent = [
      {
        body: `${proof}.\n\nWhat would you add to this, and which part of it would you argue with?`,
        hook: 'another',
      },
    ]
    expect(await hintOf({ profile: withDna({ proof: [proof] }), recent })).toContain('recent posts')
  })

  test('a topic alone gives questions about it', async () => {
    const drafts = await compose({
      profile: emptyProfile,
      focus: 'Write 5 posts about hiring your first salesperson',
    })
    expect(drafts.length).toBe(5)
    for (const { body } of drafts) expect(body).toMatch(/hiring your first salesperson/i)
  })

  test('too little material for the count gives fewer drafts', async () => {
    const drafts = await compose({
      profile: withDna({ proof: ['We have fired 900 loads without a crack'] }),
      count: 20,
    })
    expect(drafts.length).toBe(1)
  })
})
