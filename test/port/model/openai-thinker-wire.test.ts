import { describe, expect, test } from 'bun:test'
import type { ThinkRequest, TurnMessage } from '#port/model/thinker'
import { type ChatReply, failed } from '#test/support/model/fake-chat'
import type { ChatScript } from '#test/support/model/fake-chat-modes'
import { createFakeOpenAi } from '#test/support/model/fake-openai'
import { API_KEY } from '#test/support/model/openai-drafter'
import { lookTool, thinkerOn, thinkOn, turnWith } from '#test/support/model/openai-thinker'

/** What the provider gets for a turn, if it takes it. */
const wireOf = async (turn: ThinkRequest, stream = true) => {
  await using fake = await createFakeOpenAi()
  await thinkOn(thinkerOn(fake.url, { stream }), turn)
  return fake.chats[0]!
}

const failureAfter = async (script: ChatScript, turn = turnWith()): Promise<unknown> => {
  await using fake = await createFakeOpenAi()
  fake.converse(script)
  return await thinkOn(thinkerOn(fake.url), turn).catch(
    (error: { failure: string }) => error.failure,
  )
}

const called = (name: string, given: string, id = 'aaaaaaaa1') => ({ id, name, arguments: given })
const asked: TurnMessage = { role: 'user', text: 'Go.' }

describe('a request', () => {
  test('is streamed with usage, and asks for nothing on which servers differ', async () => {
    const { body, authorization } = await wireOf(turnWith())
    expect(authorization).toBe(`Bearer ${API_KEY}`)
    expect(body).toEqual({
      model: 'gpt-5',
      messages: [
        { role: 'system', content: 'You help.' },
        { role: 'user', content: 'What is waiting?' },
      ],
      max_completion_tokens: 500,
      tools: [{ type: 'function', function: { ...lookTool } }],
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test('for a whole answer says nothing of streams', async () => {
    const { body } = await wireOf(turnWith(), false)
    expect(body).not.toHaveProperty('stream_options')
    expect(body.stream).toBeUndefined()
  })

  test('without tools has neither tools nor a choice', async () => {
    const { body } = await wireOf(turnWith({ tools: [], choice: 'none' }))
    expect(body).not.toHaveProperty('tools')
    expect(body).not.toHaveProperty('tool_choice')
  })

  const format = { name: 'answer', schema: { type: 'object' } }

  test('for JSON of a form names the form, but never beside tools', async () => {
    const { body } = await wireOf(turnWith({ tools: [], format }))
    expect(body.response_format).toEqual({
      type: 'json_schema',
      json_schema: { ...format, strict: true },
    })
    expect((await wireOf(turnWith({ format }))).body).not.toHaveProperty('response_format')
  })

  test('is made again without the form, of a server that does not know it', async () => {
    await using fake = await createFakeOpenAi()
    fake.converse(
      () => failed(400, { message: 'response_format is not supported', code: null }),
      () => ({ text: '{}' }),
    )
    expect((await thinkOn(thinkerOn(fake.url), turnWith({ tools: [], format }))).thought.text).toBe(
      '{}',
    )
    expect(fake.chats.map(({ body }) => 'response_format' in body)).toEqual([true, false])
  })

  test('that wants words keeps the tools, and loses the calls of a server that does not know the choice', async () => {
    await using fake = await createFakeOpenAi()
    fake.converse('call_and_text')
    const { thought } = await thinkOn(thinkerOn(fake.url), turnWith({ choice: 'none' }))
    expect(fake.chats[0]!.body).toMatchObject({ tool_choice: 'none', tools: [{}] })
    expect(thought).toMatchObject({ text: 'I look it up.', calls: [] })
  })
})

describe('a transcript', () => {
  test('goes through a loop: the ids of calls are the same in both places', async () => {
    await using fake = await createFakeOpenAi()
    fake.converseOtherwise('equal_ids')
    const thinker = thinkerOn(fake.url)
    const { thought } = await thinkOn(thinker)
    const results = thought.calls.map(
      ({ id }): TurnMessage => ({ role: 'tool', call: id, text: 'none' }),
    )
    const messages: TurnMessage[] = [
      asked,
      { role: 'assistant', text: '', calls: thought.calls },
      ...results,
    ]
    expect((await thinkOn(thinker, turnWith({ messages }))).thought.text).toBe('Done.')
    const [, , assistant, ...tools] = fake.chats[1]!.body.messages
    expect(tools.map(({ tool_call_id }) => tool_call_id)).toEqual(
      assistant!.tool_calls!.map(({ id }) => id),
    )
  })

  test('has null for an assistant who only called, and text otherwise', async () => {
    const calls = [called('look', '{}')]
    const messages: TurnMessage[] = [
      asked,
      { role: 'assistant', text: '', calls },
      { role: 'tool', call: 'aaaaaaaa1', text: '' },
    ]
    const { body } = await wireOf(
      turnWith({ messages: [...messages, { role: 'assistant', text: '', calls: [] }, asked] }),
    )
    expect(body.messages.map(({ content }) => content)).toEqual([
      'You help.',
      'Go.',
      null,
      '',
      '',
      'Go.',
    ])
    expect(body.messages[4]).not.toHaveProperty('tool_calls')
  })

  test.each([
    ['functions.delete everything', 'functions_delete_everything'],
    ['', 'unnamed'],
    ['x'.repeat(200), 'x'.repeat(64)],
  ])('repeats the name "%s" in a form that providers take', async (name, wanted) => {
    const messages: TurnMessage[] = [
      asked,
      { role: 'assistant', text: '', calls: [called(name, '{}')] },
      { role: 'tool', call: 'aaaaaaaa1', text: 'no such tool' },
    ]
    const { body } = await wireOf(turnWith({ messages }))
    expect(body.messages[2]?.tool_calls?.[0]?.function.name).toBe(wanted)
  })

  test.each([
    ['{"a":1}', { a: 1 }],
    ['{"a":', { not_a_json_object: '{"a":' }],
    ['[1]', { not_a_json_object: '[1]' }],
    ['', { not_a_json_object: '' }],
  ])('repeats the arguments %s as a JSON object', async (given, wanted) => {
    const messages: TurnMessage[] = [
      asked,
      { role: 'assistant', text: '', calls: [called('look', given)] },
      { role: 'tool', call: 'aaaaaaaa1', text: 'wrong' },
    ]
    const { body } = await wireOf(turnWith({ messages }))
    expect(JSON.parse(body.messages[2]!.tool_calls![0]!.function.arguments)).toEqual(wanted)
  })

  test('sends reasoning back with the message that had it, and nowhere else', async () => {
    const messages: TurnMessage[] = [
      asked,
      { role: 'assistant', text: 'One.', calls: [], reasoning: 'I think.' },
      asked,
      { role: 'assistant', text: 'Two.', calls: [] },
      asked,
    ]
    const { body } = await wireOf(turnWith({ messages }))
    expect(body.messages.map(({ reasoning_content }) => reasoning_content)).toEqual([
      undefined,
      undefined,
      'I think.',
      undefined,
      undefined,
      undefined,
    ])
  })

  const unanswered = called('look', '{}')
  const result: TurnMessage = { role: 'tool', call: unanswered.id, text: 'none' }
  const other: TurnMessage = { role: 'tool', call: 'aaaaaaaa2', text: 'none' }
  const two: TurnMessage = {
    role: 'assistant',
    text: '',
    calls: [unanswered, called('look', '{}', 'aaaaaaaa2')],
  }
  test.each<[string, TurnMessage[], unknown]>([
    ['a call without a result', [two, result], 'unsupported'],
    ['a result before the call', [result, two, result, other], 'unsupported'],
    ['results in another order', [two, other, result], 'unsupported'],
    ['a message between call and result', [two, asked, result, other], 'unsupported'],
    ['a result twice', [two, result, other, other], 'unsupported'],
    ['an id used twice', [two, result, other, two, result, other], 'unsupported'],
    [
      'each call answered in order',
      [two, result, other],
      { thought: expect.anything(), pieces: expect.anything() },
    ],
  ])('%s: the fake provider answers as the real one', async (_, messages, outcome) =>
    expect(await failureAfter('text', turnWith({ messages: [asked, ...messages] }))).toEqual(
      outcome,
    ),
  )
})

describe('why a request was refused', () => {
  const refused = (status: number, message: string, code: string | null) => (): ChatReply =>
    failed(status, { message, code })
  test.each<[string, number, string | null, string]>([
    ['no_tools', 400, null, 'registry.ollama.ai/library/gemma:2b does not support tools'],
    [
      'no_tools',
      400,
      null,
      '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    ],
    ['no_tools', 404, null, 'No endpoints found that support tool use.'],
    ['no_tools', 422, null, 'Function calling is not enabled for this model'],
    ['no_tools', 500, null, 'tools param requires --jinja flag'],
    [
      'unsupported',
      400,
      null,
      "An assistant message with 'tool_calls' must be followed by tool messages",
    ],
    [
      'unsupported',
      400,
      null,
      "Invalid schema for function 'look': in context=(), 'oneOf' is not permitted",
    ],
    ['unsupported', 400, null, "Unsupported value: 'temperature'"],
    ['too_long', 400, null, 'the request exceeds the available context size'],
    ['too_long', 400, 'context_length_exceeded', 'Something else'],
    ['too_long', 413, null, 'Payload too large'],
    ['too_long', 500, null, 'Input is too long for requested model'],
    ['out_of_credit', 402, null, 'Insufficient balance'],
    ['unknown_model', 404, null, 'No such model'],
    ['provider_error', 500, null, 'The server had an error'],
  ])('%s: %p %p %s', async (failure, status, code, message) =>
    expect(await failureAfter(refused(status, message, code))).toBe(failure),
  )

  test('without tools in the request it is never the tools', async () =>
    expect(
      await failureAfter(
        refused(400, 'This model does not support tools', null),
        turnWith({ tools: [] }),
      ),
    ).toBe('unsupported'))

  const inStream = (error: object) => (): ChatReply =>
    new Response(
      `data: {"choices":[{"delta":{"content":"Ha"}}]}\n\ndata: ${JSON.stringify({ error })}\n\n`,
      {
        headers: { 'content-type': 'text/event-stream' },
      },
    )
  test.each<[string, object]>([
    ['provider_error', { message: 'died' }],
    ['rate_limited', { message: 'slow down', code: 429 }],
    ['too_long', { message: 'maximum context length', code: 400 }],
  ])('%s in the middle of a stream: %p', async (failure, error) =>
    expect(await failureAfter(inStream(error))).toBe(failure),
  )

  const waiting = (after: string) => (): ChatReply =>
    failed(429, { message: 'wait', headers: { 'retry-after': after } })
  test.each<[string, number | undefined]>([
    ['0.5', 500],
    ['999999999', 86_400_000],
    ['-1', undefined],
    ['soon', undefined],
    ['Wed, 21 Oct 2015 07:28:00 GMT', undefined],
  ])('Retry-After: %s', async (after, ms) => {
    await using fake = await createFakeOpenAi()
    fake.converse(waiting(after))
    const error = await thinkOn(thinkerOn(fake.url)).catch((cause: unknown) => cause)
    expect(error).toMatchObject({ failure: 'rate_limited' })
    expect((error as { retryAfterMs?: number }).retryAfterMs).toBe(ms as number)
  })

  test('a date in Retry-After is waited for', async () => {
    await using fake = await createFakeOpenAi()
    fake.converse(waiting(new Date(Date.now() + 3_600_000).toUTCString()))
    const error = await thinkOn(thinkerOn(fake.url)).catch((cause: unknown) => cause)
    const { retryAfterMs } = error as { retryAfterMs: number }
    expect(retryAfterMs).toBeGreaterThan(3_000_000)
    expect(retryAfterMs).toBeLessThanOrEqual(3_600_000)
  })
})
