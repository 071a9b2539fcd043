/**
 * Replies by a provider that takes messages no faster than it says, one that tells repeated
 * requests apart, and adapters that fail.
 */
import { beforeEach, expect, test } from 'bun:test'
import type { Outgoing, SendResult } from '#port/channel/channel'
import type { ChannelAdapters } from '#port/channel/registry'
import { letterOf } from '#test/support/actors/letters'
import { eventually } from '#test/support/app'
import { devChannel } from '#test/support/channels/dev-posts'
import { reply, replyOnce, replyRow, sayTogether } from '#test/support/channels/replies'
import { useApp } from '#test/support/use'

const HOUR = 3_600_000
const SENT: SendResult = { kind: 'sent', externalId: 'm1' }
const UNCLEAR: SendResult = { kind: 'unknown', error: 'it broke off' }

let asked: Outgoing[] = []
/** The answers in order; then it sends. */
let script: (SendResult | Error)[] = []
let repeatableForMs = 0
/** Those of the server. */
let adapters: ChannelAdapters = {}
const formOf = (markdown: string): string[] => {
  if (markdown.includes('broken')) throw new Error('a bug')
  return markdown === 'nothing' ? [] : markdown.split('|')
}
beforeEach(() => {
  repeatableForMs = 0
  asked = []
  script = []
})

const app = useApp(() => ({
  overrides: {
    texts: {
      compute: async (_, { input: [, text] }) => ({ texts: formOf(text), html: null }) as never,
    },
    channels: (usual) => {
      adapters = {
        ...usual,
        dev: {
          ...usual.dev!,
          spacingMs: 20,
          repeatableForMs: () => repeatableForMs,
          async send(_, message) {
            asked.push(message)
            const answer = script.shift() ?? SENT
            if (answer instanceof Error) throw answer
            return answer
          },
        },
      }
      return adapters
    },
  },
}))

const place = async () => {
  const { tenantId } = await app.newWorkspace()
  const { id: connection } = await devChannel(app, {}, tenantId)
  return { say: (text: string) => reply(app, { tenantId, connection, text }), connection, tenantId }
}
const texts = () => asked.map(({ text }) => text)

test('messages that come faster than the provider takes them wait for their turn, in order', async () => {
  const { say, ...at } = await place()
  for (const id of await sayTogether(app, at, say, 'a|b|c', 'd', 'e|f'))
    await replyOnce(app, id, 'sent')
  expect(texts()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
})

test('a long pause is waited for in the queue', async () => {
  const { say, connection } = await place()
  await replyOnce(app, await say('a'), 'sent')
  await app.owner`update channel_connection set next_out_at = now() + interval '1 hour'
    where id = ${connection}`
  const second = await say('b')
  const [free] = await app.owner<
    { at: Date }[]
  >`select next_out_at as at from channel_connection where id = ${connection}`
  const [work] = await eventually(
    () => app.owner<
      { run_at: Date }[]
    >`select run_at from work where kind = 'channel_reply' and ref_id = ${second}
      and state = 'queued'
      and run_at > now() + interval '1 minute'`,
    (rows) => rows.length === 1,
  )
  expect(work!.run_at).toEqual(free!.at)
  expect([texts(), (await replyRow(app, second)).status]).toEqual([['a'], 'queued'])
})

test('what may have been sent is asked again under the same id, where the provider takes that for one message', async () => {
  const { say } = await place()
  repeatableForMs = HOUR
  script = [UNCLEAR]
  const id = await say('a|b')
  expect(await replyOnce(app, id, 'sent', 'unknown')).toMatchObject({
    status: 'sent',
    parts: [{ external_id: 'm1', in_doubt: false }, {}],
  })
  expect(asked.map((one) => one.id)).toEqual([`${id}.0`, `${id}.0`, `${id}.1`])
})

test('and elsewhere it is not', async () => {
  const { say } = await place()
  script = [UNCLEAR]
  const id = await say('a|b')
  expect((await replyOnce(app, id, 'sent', 'unknown')).parts.map(({ state }) => state)).toEqual([
    'unknown',
    'sent',
  ])
  expect(asked.map((one) => one.id)).toEqual([`${id}.0`, `${id}.1`])
})

test('an adapter that fails leaves open whether its message was sent', async () => {
  const { say } = await place()
  script = [new Error('a bug')]
  expect(await replyOnce(app, await say('a'), 'unknown')).toMatchObject({
    error: 'the request failed in an unknown way',
  })
})

test('credentials that cannot be opened fail the connection, and the reply waits', async () => {
  const { say, connection } = await place()
  await app.owner`update channel_connection set credentials = '\\x00' where id = ${connection}`
  const id = await say('a')
  const row = await eventually(
    () => replyRow(app, id),
    ({ tries }) => tries === 1,
  )
  expect([row.status, row.error, texts()]).toEqual([
    'queued',
    'the credentials cannot be read; give them again',
    [],
  ])
  const [after] = await app.owner`select last_error from channel_connection where id = ${connection}
      and status = 'failing'`
  expect(after).toBeDefined()
})

test.each(['broken **x**', 'nothing'])(
  'a text that cannot be put into the form of its channel (%s) goes out as it was written',
  async (text) => {
    const { say } = await place()
    const [id, other] = [await say(text), await say('a')]
    const row = await replyOnce(app, id, 'sent')
    await replyOnce(app, other, 'sent')
    expect([row.text, texts()]).toEqual([text, [text, 'a']])
    expect(await app.owner`select 1 from work where ref_id = ${id}`).toHaveLength(0)
  },
)

test('a text is formed once', async () => {
  const { say } = await place()
  script = [{ kind: 'unsent', error: 'busy' }]
  const id = await say('a')
  await eventually(
    () => replyRow(app, id),
    ({ tries }) => tries === 1,
  )
  await app.owner`update channel_reply set text = 'broken' where id = ${id}`
  await replyOnce(app, id, 'sent')
  expect(texts()).toEqual(['a', 'a'])
})

test('a message whose process died is left in doubt by a server that knows the channel no more', async () => {
  const { say, connection, tenantId } = await place()
  await app.owner`update channel_connection set next_out_at = now() + interval '1 hour'
    where id = ${connection}`
  const id = await say('a')
  const [work] = await eventually(
    () =>
      app.owner<{ id: string }[]>`select id from work where ref_id = ${id} and state = 'queued'
        and run_at > now() + interval '1 minute'`,
    (rows) => rows.length === 1,
  )
  const part = {
    text: 'a',
    state: 'sending',
    external_id: null,
    error: null,
    tried_at: new Date().toISOString(),
    in_doubt: false,
  }
  await app.owner`update channel_reply set status = 'sending', parts = ${app.owner.json([part])}
    where id = ${id}`
  const { dev } = adapters
  Object.assign(adapters, { dev: undefined })
  try {
    const effects = { requeued: [{ id: work!.id, runAt: new Date(Date.now() - 60_000) }] }
    await app.workplace.runtime.ask(
      tenantId,
      letterOf(() => ({ reply: undefined, effects })),
    )
    const row = await replyOnce(app, id, 'unknown')
    expect([row.error, texts()]).toEqual(['the server stopped while this was being sent', []])
  } finally {
    Object.assign(adapters, { dev })
  }
})
