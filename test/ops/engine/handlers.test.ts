/**
 * Code that must not compile: `npm run check` fails if the line below an `@ts-expect-error` has no
 * type error.
 */
import { expect, test } from 'bun:test'
import { Type as T } from '@sinclair/typebox'
import { type Group, op } from '#contract/op'
import type { Handlers } from '#ops/engine/call'
import { loading } from '#ops/engine/loading'
import { itemPart } from '#store/growth/items'

const shape = { input: { id: T.String() }, output: T.Object({ done: T.Boolean() }) }
const done = { done: true }

const group = {
  query: op.query('GET /things/:id', 'Read.', shape),
  command: op.command('POST /things/:id', 'Do.', shape, { cap: 'post_now' }),
  awaited: op.awaited('POST /things/:id/wait', 'Do and wait.', shape),
  prepared: op.prepared('POST /things/:id/ask', 'Ask and do.', shape),
  personal: op.personal('POST /me', 'Do it for me.', shape),
  public: op.public('POST /in', 'Come in.', shape),
  download: op.download(
    'GET /file',
    'Take it.',
    { input: {}, line: shape.output },
    { file: 'things' },
  ),
} satisfies Group

const begin = {
  begin: async () => ({ awaits: 'id', effects: {} }),
  currentAnswer: async () => ({ status: 202, body: '' }),
}

const handlers: Handlers<typeof group> = {
  query: async () => done,
  command: async () => ({ reply: done }),
  awaited: begin,
  prepared: { prepare: async () => async () => ({ reply: done }) },
  personal: async () => ({ reply: done, cookies: 'clear' }),
  public: async () => ({ reply: done }),
  download: async function* () {
    yield done
  },
}

type Of<K extends keyof typeof group> = Handlers<typeof group>[K]

export const misfits = [
  // @ts-expect-error one handler is missing
  { command: handlers.command } satisfies Handlers<Pick<typeof group, 'query' | 'command'>>,
  // @ts-expect-error a query returns its output, not an outcome
  (async () => ({ reply: done })) satisfies Of<'query'>,
  // @ts-expect-error a command returns an outcome
  (async () => done) satisfies Of<'command'>,
  // @ts-expect-error the output differs from the declared one
  (async () => ({ reply: { done: 'yes' } })) satisfies Of<'command'>,
  // @ts-expect-error the input is not declared
  (async (_: { name: string }) => ({ reply: done })) satisfies Of<'command'>,
  loading(
    () => ({}),
    // @ts-expect-error a command uses no record that it does not load
    (_: { id: string }, __, { item }) => ({ reply: { done: item } }),
  ) satisfies Of<'command'>,
  loading(
    ({ id }: { id: string }) => ({ item: itemPart(id) }),
    // @ts-expect-error a record that is loaded may be missing
    (_, __, { item }) => ({ reply: { done: item.review } }),
  ) satisfies Of<'command'>,
  // @ts-expect-error an awaited command only begins its work
  (async () => ({ reply: done })) satisfies Of<'awaited'>,
  // @ts-expect-error it must also say how the record stands meanwhile
  { begin: begin.begin } satisfies Of<'awaited'>,
  // @ts-expect-error a prepared command asks before it decides
  (async () => ({ reply: done })) satisfies Of<'prepared'>,
  // @ts-expect-error only operations without a workspace set cookies
  (async () => ({ reply: done, cookies: 'everything' })) satisfies Of<'personal'>,
  // @ts-expect-error no letter runs without a workspace
  begin satisfies Of<'public'>,
  // @ts-expect-error a download yields its records one by one
  (async () => [done]) satisfies Of<'download'>,
]

export const misdeclared = [
  // @ts-expect-error a query is a GET
  () => op.query('POST /things', 'Read.', shape),
  // @ts-expect-error a query uses nothing of the plan
  () => op.query('GET /things', 'Read.', shape, { cap: 'post_now' }),
  // @ts-expect-error a command cannot be a GET
  () => op.command('GET /things', 'Do.', shape),
  // @ts-expect-error a command of a workspace needs a credential
  () => op.command('POST /things', 'Do.', shape, { scope: 'public' }),
  // @ts-expect-error no such cap
  () => op.awaited('POST /things', 'Do.', shape, { cap: 'post_later' }),
  // @ts-expect-error a personal operation passes through no mailbox
  () => op.personal('POST /me', 'Do.', shape, { urgent: true }),
  // @ts-expect-error a public operation has no scope
  () => op.public('POST /in', 'Do.', shape, { scope: 'session' }),
  // @ts-expect-error only a download is a file
  () => op.prepared('POST /things', 'Do.', shape, { file: 'things' }),
  // @ts-expect-error a tool says what the agent may do with it
  () => op.command('POST /things', 'Do.', shape, { tool: 'do_things' }),
  // @ts-expect-error a tool that reads does so too
  () => op.query('GET /things', 'Read.', shape, { tool: 'read_things' }),
  // @ts-expect-error no such class
  () => op.command('POST /things', 'Do.', shape, { tool: 'do_things', agent: 'ask' }),
  // @ts-expect-error the agent calls tools only
  () => op.command('POST /things', 'Do.', shape, { agent: 'draft' }),
  // @ts-expect-error a second scope is one of a credential
  () => op.query('GET /things', 'Read.', shape, { also: 'public' }),
  // @ts-expect-error a download needs a file name
  () => op.download('GET /file', 'Take it.', { input: {}, line: shape.output }, {}),
]

test('an operation has the kind that declared it', () => {
  for (const [name, { kind }] of Object.entries(group)) expect(kind).toBe(name as never)
  expect(Object.keys(handlers)).toEqual(Object.keys(group))
})
