import { describe, expect, test } from 'bun:test'
import { operations } from '#contract/index'
import { newId } from '#kernel/ids'
import openapi from '../../openapi.json'
import { type Document, judgeOf } from './judge.ts'

describe('the judge', () => {
  const o = operations.find(({ id }) => id === 'growth.learnings.create')!
  const judge = judgeOf(openapi as unknown as Document)
  const learning = {
    id: newId(),
    kind: 'worked',
    note: 'n',
    status: 'active',
    source: 'person',
    created_at: '2026-11-21T12:00:00Z',
  }
  const error = (code: string) => JSON.stringify({ error: { code, message: 'm', request_id: 'r' } })
  const seen = (status: number, text: string, headers: Record<string, string> = {}) =>
    judge
      .answer(o, {
        status,
        text,
        headers: new Headers({
          'content-type': 'application/json',
          'x-request-id': 'r',
          ...headers,
        }),
      })
      .map(({ kind }) => kind)

  test('accepts an answer that matches the document', () => {
    expect(seen(400, error('invalid_input'))).toEqual([])
    expect(seen(429, error('rate_limited'), { 'retry-after': '1' })).toEqual([])
  })

  test.each([
    ['an undocumented status', 418, error('invalid_input'), ['undocumented']],
    ['a code that is not documented for the status', 400, error('not_found'), ['mismatched']],
    ['an error in another form', 400, '{"message":"m"}', ['mismatched']],
    ['a record without most of its fields', 201, JSON.stringify({ learning }), ['mismatched']],
    ['text in place of JSON', 201, 'oops', ['mismatched']],
    ['a server error, documented or not', 500, error('internal'), ['failed']],
    ['a 429 without Retry-After', 429, error('rate_limited'), ['failed']],
  ] as const)('finds %s', (_, status, text, kinds) => {
    expect(seen(status, text)).toEqual([...kinds])
  })

  test('accepts a file of any type, and no refusal but a documented one in its place', () => {
    const download = operations.find(({ id }) => id === 'agent.artifacts.download')!
    const kinds = (status: number, type: string, text: string) =>
      judge
        .answer(download, {
          status,
          text,
          headers: new Headers({ 'content-type': type, 'x-request-id': 'r' }),
        })
        .map(({ kind }) => kind)
    expect(kinds(200, 'text/markdown; charset=utf-8', '# Late')).toEqual([])
    expect([
      kinds(404, 'application/json', error('not_found')),
      kinds(404, 'text/html', error('not_found')),
    ]).toEqual([[], ['mismatched']])
  })

  test('finds an answer of another type, and one without an id', () => {
    expect(seen(400, error('invalid_input'), { 'content-type': 'text/html' })).toEqual([
      'mismatched',
    ])
    expect(
      judge.answer(o, {
        status: 400,
        text: error('invalid_input'),
        headers: new Headers({ 'content-type': 'application/json' }),
      }),
    ).toHaveLength(1)
  })
})
