/** A provider that passes each check and refuses each message. */
import { afterAll, expect, test } from 'bun:test'
import type { ChannelReply } from '#domain/agent/channel/reply'
import { eventually } from '#test/support/app'
import { channelAdmin } from '#test/support/channels/channels'
import { hasten } from '#test/support/channels/dev-posts'
import { reply, replyRow } from '#test/support/channels/replies'
import { openReceiver } from '#test/support/http/receiver'
import { useApp } from '#test/support/use'

const receiver = await openReceiver()
afterAll(() => receiver[Symbol.asyncDispose]())
const app = useApp(() => ({ env: { EGRESS_ALLOW: `127.0.0.1:${receiver.port}` } }))

const place = async () => {
  const { tenantId } = await app.newWorkspace()
  const admin = await channelAdmin(app, tenantId)
  const connection = await admin.active({ config: { url: receiver.url } })
  return { tenantId, connection, say: (text: string) => reply(app, { tenantId, connection, text }), ...admin }
}

test('a connection whose checks pass and whose messages are refused fails once, and says why until one is sent', async () => {
  const { say, send, get, connection, tenantId } = await place()
  const failings = async () =>
    (await app.owner`select 1 from outbox where tenant_id = ${tenantId} and type = 'agent.channel.failing'`).length
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
  const { body } = await send('PATCH', `channels/${connection}`, { config: { url: `${receiver.url}?changed` } })
  expect(body.connection.lastError).toBeNull()
  await eventually(failings, (count) => count === 3)
  receiver.answer = {}
  await sent(other)
})
