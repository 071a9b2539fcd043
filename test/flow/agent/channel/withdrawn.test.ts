/**
 * Replies that wait while the person whom they answer stops being a member, or the sender is
 * unlinked.
 */
import { afterAll, expect, test } from 'bun:test'
import type { ChannelReply } from '#domain/agent/channel/reply'
import { newId } from '#kernel/ids'
import { eventually } from '#test/support/app'
import { CHANNEL_SECRET, channelAdmin } from '#test/support/channels/channels'
import { linked, postDev } from '#test/support/channels/dev-posts'
import { replyOnce, replyRow } from '#test/support/channels/replies'
import { openReceiver } from '#test/support/http/receiver'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const receiver = await openReceiver()
afterAll(() => receiver[Symbol.asyncDispose]())
const app = useApp(() => ({
  model: scriptedModel(() => ({ text: 'The figures of the week.' })),
  env: { EGRESS_ALLOW: `127.0.0.1:${receiver.port}` },
}))
const GONE = 'the sender whom it answers is no longer linked to a member'

/** Answers to linked senders wait for a connection that fails. */
const waitingReplies = async () => {
  receiver.answer = { status: 429, headers: { 'retry-after': '1' } }
  const { tenantId } = await app.newWorkspace()
  const admin = await channelAdmin(app, tenantId)
  const path = `/${newId()}`
  const id = await admin.active({ config: { url: new URL(path, receiver.url).href } })
  const { routingKey } = (await admin.get(id)) as { routingKey: string }
  const answered = async (sender: string) => {
    const { personId } = await signedIn(app, tenantId, 'editor')
    const identity = await linked(app, { tenantId, id }, sender, personId)
    expect(
      (await postDev(app.url, { routingKey }, { sender, text: 'How was the week?' })).status,
    ).toBe(200)
    const [row] = await eventually(
      () =>
        app.owner<ChannelReply[]>`select id from channel_reply where connection_id = ${id}
          and reply_to->>'sender' = ${sender}`,
      (rows) => rows.length === 1,
    )
    return { personId, identity, reply: row!.id }
  }
  const ada = await answered('ada')
  await eventually(
    () => replyRow(app, ada.reply),
    ({ tries }) => tries > 0,
  )
  const [bob, cem, dan] = [await answered('bob'), await answered('cem'), await answered('dan')]
  const patch = async (secret: string, status: string) => {
    expect((await admin.send('PATCH', `channels/${id}`, { credentials: { secret } })).status).toBe(
      200,
    )
    await eventually(
      () => admin.get(id),
      (now) => now.status === status,
    )
  }
  await patch('short', 'failing')
  // A request that was begun before that has its answer.
  await eventually(
    () =>
      app.owner`select 1 from work where tenant_id = ${tenantId} and kind = 'channel_reply'
        and state = 'running'`,
    ({ length }) => length === 0,
  )
  const before = receiver.requests.length
  receiver.answer = {}
  /** Who was answered since. */
  const senders = () =>
    receiver.requests
      .slice(before)
      .filter(({ url }) => url === path)
      .map(({ body }) => JSON.parse(body).sender)
  const mend = () => patch(CHANNEL_SECRET, 'active')
  return { ...admin, tenantId, id, ada, bob, cem, dan, senders, mend }
}

test('of a sender who is unlinked, removed from the workspace or linked to somebody again is not sent, and others are', async () => {
  const { tenantId, id, ada, bob, cem, dan, send, mend, senders } = await waitingReplies()
  for (const path of [
    `channels/${id}/identities/${ada.identity}`,
    `app/members/${bob.personId}`,
    `channels/${id}/identities/${cem.identity}`,
  ])
    expect((await send('DELETE', path)).status).toBe(200)
  // Linked again, it is another sender.
  await linked(app, { tenantId, id }, 'cem', dan.personId)
  await mend()
  for (const { reply } of [ada, bob, cem]) {
    expect(await replyOnce(app, reply, 'discarded', 'sent', 'failed')).toMatchObject({
      status: 'discarded',
      error: GONE,
      sent_at: null,
    })
    const [audit] =
      await app.owner`select detail from audit where operation = 'channel.reply.discarded'
        and ref_id = ${reply}`
    expect(audit).toMatchObject({ detail: { connection_id: id } })
    expect((await send('POST', `channels/replies/${reply}/send`, {})).status).toBe(409)
  }
  await replyOnce(app, dan.reply, 'sent')
  expect(senders()).toEqual(['dan'])
})

test('ends while its connection still fails', async () => {
  const { id, ada, send, senders } = await waitingReplies()
  expect((await send('DELETE', `channels/${id}/identities/${ada.identity}`)).status).toBe(200)
  await app.owner`update work set run_at = now() where kind = 'channel_reply'
    and ref_id = ${ada.reply}`
  await send('PATCH', `channels/${id}`, { displayName: 'Desk' })
  expect(await replyOnce(app, ada.reply, 'discarded')).toMatchObject({ error: GONE })
  expect(senders()).toEqual([])
})
