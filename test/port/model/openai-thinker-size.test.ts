/**
 * How much of an answer is read, and what of it counts when it is too long, torn or full of calls.
 */
import { describe, expect, test } from 'bun:test'
import { createFakeOpenAi } from '#test/support/model/fake-openai'
import {
  aborted,
  event,
  events,
  failureOf,
  stream,
  thinkerOn,
  thinkOn,
} from '#test/support/model/openai-thinker'

describe('an answer that does not end', () => {
  /** Bytes for as long as somebody reads. */
  const endless = (piece: string) => () =>
    new Response(
      new ReadableStream({ pull: (stream) => stream.enqueue(new TextEncoder().encode(piece)) }),
      {
        headers: { 'content-type': 'text/event-stream' },
      },
    )
  const words = event({ choices: [{ delta: { content: 'word '.repeat(1_000) } }] })
  const empty = event({ choices: [{ delta: {} }], padding: 'x'.repeat(500) })
  test.each([
    ['words', words],
    ['events with nothing in them', empty.repeat(100)],
    ['comments', `: ${'wait '.repeat(100)}\n\n`.repeat(100)],
    ['one event', 'data: more\n'.repeat(1_000)],
    ['one line', 'x'.repeat(65_536)],
  ])('of %s is too large', async (_, piece) => {
    await using fake = await createFakeOpenAi()
    fake.converse(endless(piece))
    expect(await thinkOn(thinkerOn(fake.url)).catch(failureOf)).toBe('too_large')
    await aborted(fake.chats[0]!.signal)
  })

  test('of calls is too large', async () => {
    const calls = {
      choices: [
        { delta: { tool_calls: [{ id: '', function: { name: 'look', arguments: '{}' } }] } },
      ],
    }
    const other = {
      choices: [
        { delta: { tool_calls: [{ id: '', function: { name: 'see', arguments: '{}' } }] } },
      ],
    }
    await using fake = await createFakeOpenAi()
    fake.converse(endless((event(calls) + event(other)).repeat(200)))
    expect(await thinkOn(thinkerOn(fake.url)).catch(failureOf)).toBe('too_large')
  })
})

test('more than 64 calls of tools in one answer are no broken answer: the first 64 are read, and the others counted', async () => {
  const call = (index: number | undefined, id: number) => ({
    index,
    id: `c${id}`,
    function: { name: 'look', arguments: `{"n":${id}` },
  })
  const rest = (index: number) =>
    event({ choices: [{ delta: { tool_calls: [{ index, function: { arguments: '}' } }] } }] })
  const end = event({ choices: [{ delta: {}, finish_reason: 'tool_calls' }] })
  const numbers = Array.from({ length: 100 }, (_, number) => number)
  const told = (index: (number: number) => number | undefined) =>
    numbers
      .map((number) =>
        event({ choices: [{ delta: { tool_calls: [call(index(number), number)] } }] }),
      )
      .join('')
  // Each with its index, and all with the same.
  for (const [body, ending] of [
    [told((number) => number) + numbers.map(rest).join(''), '}'],
    [told(() => 0), ''],
  ] as const) {
    await using fake = await createFakeOpenAi()
    fake.converse(() => stream(body + end))
    const { thought } = await thinkOn(thinkerOn(fake.url))
    expect(thought.calls.map((one) => one.arguments)).toEqual(
      numbers.slice(0, 64).map((number) => `{"n":${number}${ending}`),
    )
    expect(thought.left).toBe(36)
  }
})

describe('a stream', () => {
  const heardOf = async (answer: () => Response): Promise<string> => {
    await using fake = await createFakeOpenAi()
    fake.converse(answer)
    return await thinkOn(thinkerOn(fake.url)).then(({ thought }) => thought.text, failureOf)
  }
  const end = { choices: [{ delta: {}, finish_reason: 'stop' }] }
  const torn = 'data: {"choices":[\n\n'

  test('that is no JSON is broken', async () =>
    expect(await heardOf(() => stream(torn))).toBe('broken'))

  test('whose finish reason has come is not spoilt by what follows', async () =>
    expect(
      await heardOf(() =>
        stream(event({ choices: [{ delta: { content: 'Done.' } }] }) + event(end) + torn),
      ),
    ).toBe('Done.'))

  test('of one event of more than a mebibyte is too large', async () => {
    const padded = { choices: [{ delta: { content: 'Done.' } }], padding: 'x'.repeat(1_100_000) }
    expect(await heardOf(() => events(padded, end))).toBe('too_large')
  })

  test('of many small events is whole, though they are far longer than the text', async () => {
    const words = Array.from({ length: 8_000 }, () => ({
      id: 'x'.repeat(200),
      choices: [{ delta: { content: 'word ' } }],
    }))
    expect(await heardOf(() => events(...words, end))).toBe('word '.repeat(8_000))
  })
})
