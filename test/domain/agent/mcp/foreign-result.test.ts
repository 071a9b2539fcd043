/** Answers of foreign tools as text. */
import { describe, expect, test } from 'bun:test'
import { answerOf } from '#domain/agent/mcp/foreign-result'

const textOf = (...content: unknown[]) => answerOf({ content })?.text

describe('an answer', () => {
  test('is its texts', () => {
    expect(
      answerOf({
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      }),
    ).toEqual({ text: 'one\n\ntwo', isError: false })
    expect(answerOf({ content: [] })).toEqual({ text: '', isError: false })
  })

  test('may be that the tool failed', () => {
    expect(answerOf({ content: [{ type: 'text', text: 'no' }], isError: true })).toEqual({
      text: 'no',
      isError: true,
    })
    expect(answerOf({ content: [], isError: 'yes' })?.isError).toBe(false)
  })

  test('names what is no text', () => {
    expect(textOf({ type: 'image', mimeType: 'image/png', data: 'A'.repeat(400) })).toBe(
      '[image image/png of 300 bytes, left out]',
    )
    expect(textOf({ type: 'audio', mimeType: 'audio/wav', data: 7 })).toBe(
      '[audio audio/wav of 0 bytes, left out]',
    )
    expect(
      textOf({ type: 'resource', resource: { uri: 'a:b', mimeType: 'x/y', blob: 'AAAA' } }),
    ).toBe('[resource a:b x/y of 3 bytes, left out]')
    expect(textOf({ type: 'resource', resource: { uri: 'a:b', text: 'Hello' } })).toBe(
      '[resource a:b]\nHello',
    )
    expect(textOf({ type: 'resource_link', uri: 'a:b', name: 'n', description: 'd\ne' })).toBe(
      '[link n a:b d e]',
    )
    expect(textOf({ type: 'video\n' }, null, { type: 'text' }, { type: 'resource' })).toBe(
      '[a part of the type video left out]\n\n[a part that cannot be read, left out]\n\n[a text that is none, left out]\n\n[a resource, left out]',
    )
  })

  test('says its structured part once', () => {
    expect(
      answerOf({ content: [{ type: 'text', text: '{ "a": 1 }' }], structuredContent: { a: 1 } })
        ?.text,
    ).toBe('{ "a": 1 }')
    expect(
      answerOf({ content: [{ type: 'text', text: 'one' }], structuredContent: { a: 1 } })?.text,
    ).toBe('one\n\n{"a":1}')
    expect(answerOf({ structuredContent: { a: 1 } })?.text).toBe('{"a":1}')
  })

  test('can be kept, and is bounded', () => {
    expect(textOf({ type: 'text', text: 'a\0\ud800b' })).toBe('a\ufffdb')
    expect(textOf({ type: 'text', text: 'x'.repeat(200_000) })?.length).toBe(100_000)
    expect(textOf(...Array.from({ length: 502 }, () => ({ type: 'text', text: 'x' })))).toEndWith(
      '[2 more parts, left out]',
    )
  })

  test.each([[null], ['text'], [[]], [{}], [{ content: 'text' }], [{ toolResult: 1 }]])(
    '%j is none',
    (result) => {
      expect(answerOf(result)).toBeUndefined()
    },
  )

  test('too deep to be read is none', () => {
    let deep: unknown = {}
    for (let level = 0; level < 100_000; level++) deep = [deep]
    expect(answerOf({ content: [], structuredContent: deep })).toBeUndefined()
  })
})
