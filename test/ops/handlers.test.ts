/** What must not compile. Each line below an `@ts-expect-error` is an error of types, or `npm run check` fails. */
import { expect, test } from 'bun:test'
import { Type as T } from '@sinclair/typebox'
import { type Group, op } from '#contract/op'
import type { Handlers } from '#ops/call'

const shape = { input: { id: T.String() }, output: T.Object({ done: T.Boolean() }) }
const done = { done: true }

const group = {
  query: op.query('GET /things/:id', 'Read.', shape),
  command: op.command('POST /things/:id', 'Do.', shape, { cap: 'post_now' }),
  awaited: op.awaited('POST /things/:id/wait', 'Do and wait.', shape),
  prepared: op.prepared('POST /things/:id/ask', 'Ask and do.', shape),
  personal: op.personal('POST /me', 'Do it for me.', shape),
  public: op.public('POST /in', 'Come in.', shape),
  download: op.download('GET /file', 'Take it.', { input: {}, line: shape.output }, { file: 'things' }),
} satisfies Group

const begin = { begin: async () => ({ awaits: 'id', effects: {} }), asItStands: async () => ({ status: 202, body: '' }) }

const handlers: Handlers<typeof group> = {
  query: async () => done,
  command: async () => ({ reply: done }),
  awaited: begin,
  prepared: { prepare: async () => async () => ({ reply: done }) },
  personal: async () => ({ reply: done, keep: 'nothing' }),
  public: async () => ({ reply: done }),
  download: async function* () {
    yield done
  },
}

type Of<K extends keyof typeof group> = Handlers<typeof group>[K]

export const misfits = [
  // @ts-expect-error one handler is missing
  { command: handlers.command } satisfies Handlers<Pick<typeof group, 'query' | 'command'>>,
  // @ts-expect-error a query gives its output, not an outcome
  (async () => ({ reply: done })) satisfies Of<'query'>,
  // @ts-expect-error a command gives an outcome
  (async () => done) satisfies Of<'command'>,
  // @ts-expect-error another output than the declared one
  (async () => ({ reply: { done: 'yes' } })) satisfies Of<'command'>,
  // @ts-expect-error an input that is not declared
  (async (_: { name: string }) => ({ reply: done })) satisfies Of<'command'>,
  // @ts-expect-error an awaited command begins work
  (async () => ({ reply: done })) satisfies Of<'awaited'>,
  // @ts-expect-error and says how the record stands meanwhile
  { begin: begin.begin } satisfies Of<'awaited'>,
  // @ts-expect-error a prepared command asks before it decides
  (async () => ({ reply: done })) satisfies Of<'prepared'>,
  // @ts-expect-error only operations of no workspace set cookies
  (async () => ({ reply: done, keep: 'everything' })) satisfies Of<'personal'>,
  // @ts-expect-error no letter runs where there is no workspace
  begin satisfies Of<'public'>,
  // @ts-expect-error a download gives its records one by one
  (async () => [done]) satisfies Of<'download'>,
]

export const misdeclared = [
  // @ts-expect-error a query changes nothing
  () => op.query('POST /things', 'Read.', shape),
  // @ts-expect-error a query takes nothing of the plan
  () => op.query('GET /things', 'Read.', shape, { cap: 'post_now' }),
  // @ts-expect-error a command is no GET
  () => op.command('GET /things', 'Do.', shape),
  // @ts-expect-error a change of a workspace is open to nobody without a credential
  () => op.command('POST /things', 'Do.', shape, { scope: 'public' }),
  // @ts-expect-error no such cap
  () => op.awaited('POST /things', 'Do.', shape, { cap: 'post_later' }),
  // @ts-expect-error a personal operation is in no mailbox
  () => op.personal('POST /me', 'Do.', shape, { urgent: true }),
  // @ts-expect-error anybody may call it, so it takes no scope
  () => op.public('POST /in', 'Do.', shape, { scope: 'session' }),
  // @ts-expect-error only a download is a file
  () => op.prepared('POST /things', 'Do.', shape, { file: 'things' }),
  // @ts-expect-error a download has a name
  () => op.download('GET /file', 'Take it.', { input: {}, line: shape.output }, {}),
]

test('an operation has the kind that it is declared with', () => {
  for (const [name, { kind }] of Object.entries(group)) expect(kind).toBe(name as never)
  expect(Object.keys(handlers)).toEqual(Object.keys(group))
})
