/**
 * One answer in a channel, with the worst text that a model can write, stops nobody: not its
 * workspace, and no other.
 */
import { beforeEach, expect, test } from 'bun:test'
import type { MessageParts } from '#domain/agent/channel/forms/parts'
import type { Outgoing } from '#port/channel/channel'
import { openTexts } from '#port/texts/texts'
import { testStops } from '#test/support/actors/stops'
import { type TestApp, testApp } from '#test/support/app'
import { devChannel, hasten } from '#test/support/channels/dev-posts'
import { reply, replyOnce, replyRow } from '#test/support/channels/replies'
import { freshDb } from '#test/support/database/db'
import { eventually } from '#test/support/eventually'
import { crash } from '#test/support/growth/story'

const hostile = (length: number): string => '*a_'.repeat(length / 3)

let sent: Outgoing[] = []
let formed: { tenantId: string; text: string }[] = []
/** What becomes of a text in the place of its form. */
let answers: (text: string) => Promise<MessageParts> | undefined = () => undefined
beforeEach(() => {
  sent = []
  formed = []
  answers = () => undefined
})

const stops = testStops()
const start = async (
  database: NonNullable<Parameters<typeof testApp>[0]>['database'],
  stack: AsyncDisposableStack,
): Promise<TestApp> => {
  const real = stack.use(openTexts())
  return stack.use(
    await testApp({
      database,
      overrides: {
        failpoints: stops.at,
        texts: {
          async compute(tenantId, { name, input }, signal) {
            formed.push({ tenantId, text: input[1] })
            return ((await answers(input[1])) ??
              (await real.compute(tenantId, { name, input }, signal))) as never
          },
        },
        channels: (usual) => ({
          ...usual,
          dev: {
            ...usual.dev!,
            spacingMs: 0,
            async send(_, message) {
              sent.push(message)
              return { kind: 'sent', externalId: null }
            },
          },
        }),
      },
    }),
  )
}

const place = async (app: TestApp) => {
  const { tenantId } = await app.newWorkspace()
  const { id: connection } = await devChannel(app, {}, tenantId)
  return { tenantId, connection, say: (text: string) => reply(app, { tenantId, connection, text }) }
}

test('a reply’s parts are made once, beside the mailbox, and kept with it across a restart', async () => {
  await using stack = new AsyncDisposableStack()
  const { options } = stack.use(await freshDb())
  const app = await start(options, stack)
  const { say, connection, tenantId } = await place(app)
  await app.owner`update channel_connection set next_out_at = now() + interval '1 hour'
    where id = ${connection}`
  const id = await say(hostile(99_000))
  const { parts } = await eventually(
    () => replyRow(app, id),
    (row) => row.parts.length > 0,
  )
  expect([parts.length > 1, new Set(parts.map(({ state }) => state)), formed.length, sent]).toEqual(
    [true, new Set(['queued']), 1, []],
  )
  await crash(app)
  const next = await start(options, stack)
  answers = () => Promise.reject(new Error('it is made again'))
  await app.owner`update channel_connection set next_out_at = null where id = ${connection}`
  await hasten(next, { tenantId }, 'channel_reply')
  expect(await replyOnce(next, id, 'sent', 'failed', 'unknown')).toMatchObject({ status: 'sent' })
  expect([formed.length, sent.map(({ text }) => text)]).toEqual([1, parts.map(({ text }) => text)])
})

test('while a text keeps its thread busy, others read and write, and its own workspace does', async () => {
  await using stack = new AsyncDisposableStack()
  const app = await start(undefined, stack)
  const [own, other] = [await place(app), await place(app)]
  const { promise, resolve } = Promise.withResolvers<MessageParts>()
  answers = (text) => (text.startsWith('*a_') ? promise : undefined)
  const id = await own.say(hostile(99_000))
  await eventually(
    () => formed,
    ({ length }) => length === 1,
  )
  const second = await other.say('**fine**')
  expect((await replyOnce(app, second, 'sent')).parts).toMatchObject([{ text: '**fine**' }])
  for (const { tenantId } of [own, other]) {
    const { api_key: key } = await app.newKey(['api:read', 'api:write'], tenantId)
    expect((await app.send('GET', '/api/v1/growth/counts', { key })).status).toBe(200)
    const learning = { kind: 'worked', note: 'Nobody waits.' }
    expect(
      (await app.send('POST', '/api/v1/growth/learnings', { key, body: learning })).status,
    ).toBe(201)
  }
  expect(await replyRow(app, id)).toMatchObject({ status: 'queued', parts: [] })
  resolve({ texts: ['at last'], html: null })
  await replyOnce(app, id, 'sent')
  expect(sent.map(({ text }) => text)).toEqual(['**fine**', 'at last'])
})

test('a text is first cut to what the parts can hold, and what fails goes out as plain text', async () => {
  await using stack = new AsyncDisposableStack()
  const app = await start(undefined, stack)
  const { say } = await place(app)
  answers = () => Promise.reject(new Error('it hangs'))
  const row = await replyOnce(app, await say(`${hostile(9_000)} <end>`), 'sent', 'failed')
  expect([row.status, row.parts.map(({ text }) => text).join('')]).toEqual([
    'sent',
    `${hostile(9_000)} <end>`,
  ])
})

test('a process that dies while parts are made leaves nothing half done', async () => {
  await using stack = new AsyncDisposableStack()
  const { options } = stack.use(await freshDb())
  const app = await start(options, stack)
  const { say } = await place(app)
  const stopped = stops.stopNext('channel.reply.forming')
  const id = await say('**once**')
  await stopped
  await crash(app)
  const next = await start(options, stack)
  expect(await replyOnce(next, id, 'sent', 'unknown')).toMatchObject({
    status: 'sent',
    parts: [{ text: '**once**', state: 'sent' }],
  })
  expect(sent).toHaveLength(1)
})
