/** What is said of a draft that failed, and what stops one. */
import { describe, expect, test } from 'bun:test'
import { GenerationError } from '#port/model/drafter'
import { briefWith, neverAborts } from '#test/support/model/briefs'
import { type ModelInput, validDrafts } from '#test/support/model/fake-drafts'
import { type Behaviour, createFakeOpenAi } from '#test/support/model/fake-openai'
import { drafterOn, hintAfter } from '#test/support/model/openai-drafter'

/** Drafts, the first ones with changes. */
const spoiled = (changes: object[]): Behaviour => ({
  write: (input: ModelInput) => ({
    drafts: validDrafts(input).map((draft, index) => ({ ...draft, ...changes[index] })),
  }),
})
const allSpoiled = (change: object): Behaviour => spoiled(Array.from({ length: 20 }, () => change))

describe('hints that fit the cause', () => {
  const twice = (behaviour: Behaviour): Behaviour[] => [behaviour, behaviour]
  test.each<[string, Behaviour[], string, number]>([
    [
      'too long twice',
      twice(allSpoiled({ body: 'word '.repeat(80) })),
      'every draft was too long; lower the count or shorten the focus',
      2,
    ],
    [
      'avoided phrases twice',
      twice(allSpoiled({ body: 'Pure synergy.' })),
      'every draft contained a phrase of the avoid list',
      2,
    ],
    [
      'invented numbers twice',
      twice(allSpoiled({ body: 'We saved $999,999.' })),
      'the model stated numbers that the profile does not have',
      2,
    ],
    [
      'a wrong schema, then 429',
      ['wrong_schema', 'rate_limited'],
      'model provider is rate limiting; retry later',
      2,
    ],
  ])('%s', async (_, script, expected, expectedCalls) => {
    const { hint, calls } = await hintAfter(script)
    expect(hint).toContain(expected)
    expect(calls).toBe(expectedCalls)
  })

  test('repeats of recent posts twice', async () => {
    const recent = [{ body: 'We said this before, and we say it again.', hook: 'h' }]
    const { hint } = await hintAfter(
      twice(allSpoiled({ body: 'We said this before, and we say it AGAIN!' })),
      {
        brief: briefWith({ recent }),
      },
    )
    expect(hint).toContain('every draft repeated a recent post')
  })

  test('a closed port means that the provider cannot be reached', async () => {
    const gone = await createFakeOpenAi()
    await gone[Symbol.asyncDispose]()
    const cause = await drafterOn(gone.url)
      .draft(briefWith(), neverAborts())
      .catch((error: unknown) => error)
    expect(cause).toBeInstanceOf(GenerationError)
    expect((cause as GenerationError).hint).toContain('model provider cannot be reached')
  })
})

test.each<Behaviour>(['hang', 'hang_in_body'])(
  'an abort during %s ends the call with the reason of the signal',
  async (behaviour) => {
    await using fake = await createFakeOpenAi(behaviour)
    const controller = new AbortController()
    const reason = new Error('the batch was cancelled')
    const arrived = fake.arrived()
    const drafting = drafterOn(fake.url).draft(briefWith(), controller.signal)
    await arrived
    controller.abort(reason)
    await expect(drafting).rejects.toBe(reason)
  },
)
