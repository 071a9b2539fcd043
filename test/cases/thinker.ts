/** What a thinker makes of everything that models and servers do, streamed or not. */

import { describe, expect, test } from 'bun:test'
import type { Thought } from '#domain/agent/job/answer'
import { ThinkError } from '#port/model/thinker'
import { type ChatMode, FAKE_SECRET, FOREIGN_ID } from '#test/support/model/fake-chat-modes'
import { createFakeOpenAi } from '#test/support/model/fake-openai'
import { lookTool, thinkerOn, thinkOn } from '#test/support/model/openai-thinker'

type Expected = string | (Omit<Partial<Thought>, 'calls'> & { calls?: [string, string][] })

const called = (...given: string[]): Expected => ({
  text: '',
  ending: 'whole',
  calls: given.map((one): [string, string] => [lookTool.name, one]),
})
const said = (text: string): Expected => ({ text, ending: 'whole', calls: [] })
const numbers = called('{"number":0}', '{"number":1}')
const long = (number: number) => `{"number":${number},"word":"so long that it comes in pieces"}`

/** The thought, or the failure and how long to wait. */
const expected: Record<
  Exclude<ChatMode, 'hang_before' | 'hang_in_middle' | 'hang_at_end'>,
  Expected
> = {
  text: {
    ...(said('Three drafts wait for you. 🌱 Shall I go on?') as object),
    usage: { input_tokens: 1_000, cached_tokens: 600, output_tokens: 200 },
  },
  one_call: called('{}'),
  parallel_calls: called(long(0), long(1), long(2)),
  // What is beyond 64 is counted alone.
  thousand_calls: { ...(called(...Array.from({ length: 64 }, () => '{}')) as object), left: 936 },
  equal_ids: numbers,
  empty_ids: numbers,
  long_ids: called('{}'),
  all_index_zero: numbers,
  no_index: numbers,
  arguments_as_object: called('{"number":1}'),
  unknown_tool: { calls: [['functions.delete everything', '{}']] },
  not_offered: { calls: [['growth_pause_all', '{}']] },
  arguments_not_json: called('the third one, please'),
  arguments_cut: { ending: 'cut', calls: [[lookTool.name, '{"number":']] },
  arguments_of_wrong_types: called('{"id":7,"count":"many","list":{}}'),
  arguments_with_nul: called('{"word":"a\u0001b"}'),
  foreign_uuids: called(JSON.stringify({ id: FOREIGN_ID })),
  secrets: called(JSON.stringify({ text: FAKE_SECRET })),
  call_and_text: { text: 'I look it up.', calls: [[lookTool.name, '{}']] },
  endless_calls: called('{}'),
  obeys_everything: said('Done.'),
  text_cut: { text: 'Half a sen', ending: 'cut' },
  text_in_parts: said('In parts.'),
  no_text: said(''),
  refusal: { text: '', ending: 'refused' },
  filtered: { text: 'Half', ending: 'refused' },
  reasoning_only: { text: '', calls: [], reasoning: 'The person wants to know.' },
  reasoning_and_call: { reasoning: 'I have to look.', calls: [[lookTool.name, '{}']] },
  no_finish: 'broken',
  finish_error: 'broken',
  cut_at_start: 'broken',
  cut_in_middle: 'broken',
  usage_missing: { text: 'Done.', usage: undefined },
  usage_zero: { text: 'Done.', usage: undefined },
  usage_negative: { text: 'Done.', usage: undefined },
  usage_absurd: { text: 'Done.', usage: undefined },
  too_much: 'too_large',
  rate_limited: 'rate_limited after 20000',
  rate_limited_without_time: 'rate_limited',
  out_of_credit: 'out_of_credit',
  unauthorized: 'unauthorized',
  forbidden: 'unauthorized',
  unknown_model: 'unknown_model',
  too_long: 'too_long',
  no_tools: 'no_tools',
  bad_request: 'unsupported',
  server_error: 'provider_error',
  overloaded: 'provider_error after 3000',
  web_page: 'broken',
}

const failureOf = (cause: unknown): string => {
  if (!(cause instanceof ThinkError)) throw cause
  return cause.retryAfterMs === undefined
    ? cause.failure
    : `${cause.failure} after ${cause.retryAfterMs}`
}

const outcomeOf = async (mode: ChatMode, stream: boolean) => {
  await using fake = await createFakeOpenAi()
  fake.converse(mode)
  return await thinkOn(thinkerOn(fake.url, { stream })).catch(failureOf)
}

export const thinkerCases = (stream: boolean): void => {
  describe('each mode', () => {
    test.concurrent.each(Object.entries(expected) as [keyof typeof expected, Expected][])(
      '%s',
      async (mode, wanted) => {
        const outcome = await outcomeOf(mode, stream)
        if (typeof wanted === 'string' || typeof outcome === 'string')
          return expect(outcome).toEqual(wanted as never)
        const { calls, ...more } = wanted
        expect(outcome.thought).toMatchObject(more)
        if ('usage' in more) expect(outcome.thought.usage).toEqual(more.usage)
        if (calls)
          expect(outcome.thought.calls.map((one) => [one.name, one.arguments])).toEqual(calls)
        expect(outcome.pieces.join('')).toBe(outcome.thought.text)
      },
    )
  })

  test.each(['parallel_calls', 'equal_ids', 'empty_ids', 'long_ids'] as const)(
    '%s: ids are ours, and no two are equal',
    async (mode) => {
      const outcome = await outcomeOf(mode, stream)
      if (typeof outcome === 'string') throw new Error(outcome)
      const ids = outcome.thought.calls.map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
      for (const id of ids) expect(id).toMatch(/^[0-9A-Za-z]{9}$/)
    },
  )

  test('arguments with a NUL stay unreadable', async () => {
    const outcome = await outcomeOf('arguments_with_nul', stream)
    if (typeof outcome === 'string') throw new Error(outcome)
    expect(() => JSON.parse(outcome.thought.calls[0]!.arguments)).toThrow()
  })
}
