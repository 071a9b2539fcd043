/**
 * What keeps a reply from going out: a provider that does not take it, a connection that fails or
 * ends, a workspace that is to be deleted.
 */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import type { ChannelReply } from '#domain/agent/channel/reply'
import { eventually } from '#test/support/app'
import { hasten } from '#test/support/channels/dev-posts'
import { replyingPlace, replyOnce, replyRow } from '#test/support/channels/replies'
import { openReceiver } from '#test/support/http/receiver'
import { useApp } from '#test/support/use'

const receiver = await openReceiver()
afterAll(() => receiver[Symbol.asyncDispose]())
/** Where nobody listens. */
const closed = await openReceiver()
await closed[Symbol.asyncDispose]()
const app = useApp(() => ({
  env: { EGRESS_ALLOW: `127.0.0.1:${receiver.port},127.0.0.1:${closed.port}` },
}))
beforeEach(() => {
  receiver.answer = {}
})

const place = () => replyingPlace(app, receiver)

test('a connection whose checks pass and whose messages are refused fails once, and says why until one is sent', async () => {
  const { say, send, get, connection, tenantId, url } = await place()
  const failings = async () =>
    (
      await app.owner`select 1 from outbox where tenant_id = ${tenantId}
        and type = 'agent.channel.failing'`
    ).length
  /** Without the pauses between tries. */
  const tried = (id: string, until: (reply: ChannelReply) => boolean) =>
    eventually(async () => {
      await hasten(app, { tenantId }, 'channel_reply')
      return replyRow(app, id)
    }, until)
  const refusedSo = async (count: number): Promise<string> => {
    const id = await say(`refused ${count}`)
    await tried(id, ({ tries }) => tries >= count)
    return id
  }
  const sent = (id: string) => tried(id, ({ status }) => status === 'sent')
  const checked = () =>
    eventually(
      () => get(connection),
      ({ status }) => status === 'active',
    )
  receiver.answer = { status: 404 }
  const id = await refusedSo(2)
  expect(await checked()).toMatchObject({ lastError: 'the receiver answered 404' })
  expect(await failings()).toBe(1)
  receiver.answer = {}
  await sent(id)
  expect(await get(connection)).toMatchObject({ status: 'active', lastError: null })

  receiver.answer = { status: 404 }
  const other = await refusedSo(1)
  expect(await failings()).toBe(2)
  // A person who changes it wants to hear whether that was enough.
  const { body } = await send('PATCH', `channels/${connection}`, {
    config: { url: `${url}?changed` },
  })
  expect(body.connection.lastError).toBeNull()
  await eventually(failings, (count) => count === 3)
  receiver.answer = {}
  await sent(other)
})

describe('a provider', () => {
  test('that cannot be reached gets it again, later', async () => {
    const { say, send, connection, url, texts } = await place()
    await send('PATCH', `channels/${connection}`, { config: { url: closed.url } })
    const id = await say('Hello')
    const tried = await eventually(
      () => replyRow(app, id),
      ({ tries }) => tries > 0,
    )
    expect(tried).toMatchObject({
      status: 'queued',
      error: 'the connection failed: ECONNREFUSED',
      parts: [{ state: 'queued' }],
    })
    await send('PATCH', `channels/${connection}`, { config: { url } })
    await replyOnce(app, id, 'sent')
    expect(texts()).toEqual(['Hello'])
  })

  test('that wants a pause gets nothing from the connection meanwhile', async () => {
    const { say, connection, texts } = await place()
    receiver.answer = ({ body }) =>
      JSON.parse(body).text === 'first' ? { status: 429, headers: { 'retry-after': '600' } } : {}
    const first = await say('first')
    await eventually(
      () => replyRow(app, first),
      ({ tries }) => tries === 1,
    )
    const second = await say('second')
    const [row] = await eventually(
      () => app.owner<
        { run_at: Date }[]
      >`select run_at from work where kind = 'channel_reply' and ref_id = ${second}
        and state = 'queued'
        and run_at > now() + interval '5 minutes'`,
      (rows) => rows.length === 1,
    )
    const [free] = await app.owner<
      { at: Date }[]
    >`select next_out_at as at from channel_connection where id = ${connection}`
    expect(row!.run_at).toEqual(free!.at)
    expect(texts()).toEqual(['first'])
    expect(await replyRow(app, first)).toMatchObject({
      status: 'queued',
      error: 'the receiver answered 429',
    })
  })

  test('whose answer says nothing leaves it unknown, and it is never sent again', async () => {
    const { say, send, texts } = await place()
    receiver.answer = { status: 500 }
    const id = await say('Hello')
    const unknown = await replyOnce(app, id, 'unknown')
    expect(unknown).toMatchObject({
      error: 'the receiver answered 500',
      parts: [{ state: 'unknown' }],
    })
    expect((await send('POST', `channels/replies/${id}/send`, {})).status).toBe(409)
    expect(texts()).toEqual(['Hello'])
  })

  test('that declines a message gets the others, and this one again only if a person wants it', async () => {
    const { say, send, texts } = await place()
    receiver.answer = { status: 422 }
    const id = await say('Hello')
    expect(await replyOnce(app, id, 'failed')).toMatchObject({ error: 'the receiver answered 422' })
    receiver.answer = {}
    await replyOnce(app, await say('Others'), 'sent')
    expect((await send('POST', `channels/replies/${id}/send`, {})).body.reply.status).toBe('queued')
    await replyOnce(app, id, 'sent')
    expect(texts()).toEqual(['Hello', 'Others', 'Hello'])
  })
})

describe('a connection', () => {
  test('that is refused fails, tells of it, keeps its replies, and sends them once it works again', async () => {
    const { say, send, get, connection, tenantId } = await place()
    receiver.answer = { status: 401 }
    const [first, second] = [await say('first'), await say('second')]
    // The dev channel's check passes, since its secret is still there.
    const told = await eventually(
      () =>
        app.owner`select data->>'error' as error from outbox where tenant_id = ${tenantId}
          and type = 'agent.channel.failing'`,
      (rows) => rows.length > 0,
    )
    expect(told[0]).toEqual({ error: 'the receiver answered 401' })
    expect((await replyRow(app, first)).error).toBe('the receiver answered 401')
    receiver.answer = {}
    await send('POST', `channels/${connection}/check`, {})
    await replyOnce(app, second, 'sent')
    await replyOnce(app, first, 'sent')
    expect((await get(connection)).status).toBe('active')
  })

  test('that is disconnected takes its replies with it: nothing goes out any more', async () => {
    const { say, send, connection, texts } = await place()
    receiver.answer = { status: 429, headers: { 'retry-after': '600' } }
    const id = await say('Hello')
    await eventually(
      () => replyRow(app, id),
      ({ tries }) => tries === 1,
    )
    receiver.answer = {}
    expect((await send('DELETE', `channels/${connection}`)).status).toBe(200)
    expect(await app.owner`select 1 from channel_reply where id = ${id}`).toHaveLength(0)
    await eventually(
      () => app.owner`select 1 from work where kind = 'channel_reply' and ref_id = ${id}`,
      (rows) => rows.length === 0,
    )
    expect(texts()).toEqual(['Hello'])
  })
})

describe('a workspace', () => {
  test('that is paused answers people all the same', async () => {
    const { say, send, texts } = await place()
    expect((await send('POST', 'growth/automation/pause-all', {})).status).toBe(200)
    await replyOnce(app, await say('Hello'), 'sent')
    expect(texts()).toEqual(['Hello'])
  })

  test('that is to be deleted says nothing more, until that is called off', async () => {
    const { say, send, tenantId, texts } = await place()
    const { body } = await send('GET', 'app/workspace')
    expect(
      (await send('POST', 'app/workspace/deletion', { name: body.workspace.name })).status,
    ).toBe(200)
    const id = await say('Hello')
    const held = await eventually(
      () => replyRow(app, id),
      ({ error }) => error !== null,
    )
    expect([held.status, held.error, texts()]).toEqual([
      'queued',
      'the workspace is scheduled for deletion',
      [],
    ])
    expect((await send('DELETE', 'app/workspace/deletion')).status).toBe(200)
    await hasten(app, { tenantId }, 'channel_reply')
    await replyOnce(app, id, 'sent')
  })
})
