/** What is said of a draft that failed, and what stops one. */
import { describe, expect, test } from 'bun:test'
import pino from 'pino'
import { GenerationError } from '#port/model/drafter'
import { briefWith, neverAborts } from '#test/support/model/briefs'
import { type ModelInput, validDrafts } from '#test/support/model/fake-drafts'
import { type Behaviour, createFakeOpenAi } from '#test/support/model/fake-openai'
import { API_KEY, drafterOn, hintAfter } from '#test/support/model/openai-drafter'

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
      'a wrong schema twice',
      twice('wrong_schema'),
      'model output was not valid; retry once, or use another model',
      2,
    ],
    [
      'no JSON twice',
      twice('not_json'),
      'model output was not valid; retry once, or use another model',
      2,
    ],
    [
      'an empty answer twice',
      twice('empty'),
      'model output was not valid; retry once, or use another model',
      2,
    ],
    [
      'a cut-off answer twice',
      twice('truncated'),
      'model output was cut off; lower the count or shorten the focus',
      2,
    ],
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
    ['429', ['rate_limited'], 'model provider is rate limiting; retry later', 1],
    [
      '429 for credit',
      ['out_of_credit'],
      'model provider account has no credit left; check its billing',
      1,
    ],
    ['401', ['unauthorized'], 'model provider refused the API key; check OPENAI_API_KEY', 1],
    ['404', ['not_found'], 'model provider does not know the model or the address', 1],
    ['400', ['bad_request'], 'use a model that supports structured output', 1],
    ['500', ['server_error'], 'model provider failed; retry later', 1],
    ['a refusal', ['refusal'], 'model refused to write this; change the focus or the profile', 1],
    [
      'a content filter',
      ['filtered'],
      'model refused to write this; change the focus or the profile',
      1,
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

  test.each<Behaviour>(['hang', 'hang_in_body'])(
    '%s: the time limit ends the call',
    async (behaviour) => {
      const { hint, calls } = await hintAfter([behaviour], { options: { timeoutMs: 1_000 } })
      expect(hint).toBe('model did not answer in time; lower count or retry later')
      expect(calls).toBe(1)
    },
  )

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

describe('stopping and secrecy', () => {
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

  test('neither errors nor logs contain the key or what the provider wrote', async () => {
    const lines: string[] = []
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
    for (const behaviour of ['unauthorized', 'rate_limited', 'server_error', 'valid'] as const) {
      await using fake = await createFakeOpenAi(behaviour)
      const outcome = await drafterOn(fake.url, { log })
        .draft(briefWith(), neverAborts())
        .catch((error: unknown) => error)
      lines.push(Bun.inspect(outcome, { depth: 12 }))
    }
    expect(lines.length).toBe(8)
    expect(lines.join('\n')).not.toContain(API_KEY)
    expect(lines.join('\n')).not.toContain('Incorrect API key')
  })
})
