/** A provider that passes each check and refuses each message. */
import { afterAll, expect, test } from 'bun:test'
import { eventually } from '#test/support/app'
import { reply, replyOnce, replyRow } from '#test/support/channel-replies'
import { channelAdmin } from '#test/support/channels'
import { openReceiver } from '#test/support/receiver'
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
  const refusedSo = async (count: number): Promise<string> => {
    const id = await say(`refused ${count}`)
    await eventually(
      () => replyRow(app, id),
      ({ tries }) => tries >= count,
    )
    return id
  }
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
  await replyOnce(app, id, 'sent')
  expect(await get(connection)).toMatchObject({ status: 'active', lastError: null })

  receiver.answer = { status: 404 }
  const other = await refusedSo(1)
  expect(await failings()).toBe(2)
  // A person who changes it wants to hear whether that was enough.
  const { body } = await send('PATCH', `channels/${connection}`, { config: { url: `${receiver.url}?changed` } })
  expect(body.connection.lastError).toBeNull()
  await eventually(failings, (count) => count === 3)
  receiver.answer = {}
  await replyOnce(app, other, 'sent')
})
