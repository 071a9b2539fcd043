/** Codes that link senders to members, and the end of such links. */
import { expect, test } from 'bun:test'
import { LINKED_LINES } from '#domain/agent/channel/identity'
import { MEMBERS_ONLY } from '#domain/agent/channel/trust'
import { scopes } from '#kernel/scopes'
import {
  channelJobs,
  type DevChannel,
  devChannel,
  messagesOf,
  postDev,
} from '#test/support/channels/dev-posts'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp({ model: scriptedModel(() => ({ text: 'Seen.' })) })

const place = async (more: Record<string, unknown> = {}) => {
  const { tenantId } = await app.newWorkspace()
  const { api_key: key } = await app.newKey([...scopes], tenantId)
  const channel = await devChannel(app, more, tenantId)
  return {
    tenantId,
    key,
    channel,
    member: (role: 'owner' | 'approver' | 'editor' | 'viewer') => signedIn(app, tenantId, role),
  }
}

const at = ({ id }: DevChannel, path: string) => `/api/v1/channels/${id}/${path}`

const codeFor = async (channel: DevChannel, key: string): Promise<string> => {
  const { status, body } = await app.send('POST', at(channel, 'link-code'), { key })
  expect(status).toBe(201)
  expect(Date.parse(body.expiresAt)).toBeGreaterThan(Date.now())
  expect(body.steps.join()).toContain(`/channels/dev/${channel.id}`)
  return body.code
}

const say = async (channel: DevChannel, sender: string, text: string) => {
  const { status } = await postDev(app.url, channel, { sender, text, name: sender.toUpperCase() })
  expect(status).toBe(200)
}

const identitiesOf = async (channel: DevChannel, key: string) =>
  (await app.send('GET', at(channel, 'identities'), { key })).body.identities

test('whoever sends the code is the member from then on, and the code is no message', async () => {
  const { channel, key, member } = await place({ senderPolicy: 'members' })
  const ada = await member('viewer')
  const code = await codeFor(channel, ada.key)
  await say(channel, 'ada', 'Hello')
  await say(channel, 'ada', `My code is ${code.toLowerCase()}.`)
  expect(await channelJobs(app, channel)).toEqual([])
  expect(await messagesOf(app, channel)).toEqual([])
  expect(await identitiesOf(channel, key)).toMatchObject([
    { sender: 'ada', name: 'ADA', personId: ada.personId, personName: 'Test' },
  ])
  await say(channel, 'ada', 'Hello')
  const [job] = await channelJobs(app, channel)
  expect(job!.on_behalf.personId).toBe(ada.personId)
  const lines =
    await app.owner`select text from channel_reply where connection_id = ${channel.id} order by id`
  expect(lines.map(({ text }) => text)).toEqual([MEMBERS_ONLY, LINKED_LINES.linked])
  const rows = await app.owner`select detail from audit where tenant_id = ${channel.tenantId}
      and detail->>'code' = 'linked'`
  expect(rows).toMatchObject([{ detail: { sender: 'ada', person_id: ada.personId } }])
})

test('a code works once, for one channel, until the next one or for 15 minutes', async () => {
  const { channel, key, member, tenantId } = await place({ senderPolicy: 'members' })
  const other = await devChannel(app, { senderPolicy: 'members' }, tenantId)
  const ada = await member('editor')
  const former = await codeFor(channel, ada.key)
  const code = await codeFor(channel, ada.key)
  await say(channel, 'ada', former)
  await say(other, 'ada', code)
  expect(await identitiesOf(channel, key)).toEqual([])
  await say(channel, 'ada', code)
  await say(channel, 'eve', code)
  expect(await identitiesOf(channel, key)).toMatchObject([{ sender: 'ada' }])
  const late = await codeFor(channel, ada.key)
  await app.owner`update channel_link_code set expires_at = now() - interval '1 minute'
    where tenant_id = ${tenantId}`
  await say(channel, 'eve', late)
  expect(await identitiesOf(channel, key)).toHaveLength(1)
  expect(await channelJobs(app, channel)).toEqual([])
})

test('the code of another member or of whoever has left changes nothing of a sender', async () => {
  const { channel, key, member, tenantId } = await place()
  const [ada, bob] = [await member('editor'), await member('editor')]
  await say(channel, 'ada', await codeFor(channel, ada.key))
  await say(channel, 'ada', await codeFor(channel, bob.key))
  expect(await identitiesOf(channel, key)).toMatchObject([
    { sender: 'ada', personId: ada.personId },
  ])
  const code = await codeFor(channel, bob.key)
  await app.owner`delete from member where tenant_id = ${tenantId} and person_id = ${bob.personId}`
  await say(channel, 'eve', code)
  expect(await identitiesOf(channel, key)).toHaveLength(1)
  // To strangers it is a message like any other.
  expect(await channelJobs(app, channel)).toMatchObject([{ on_behalf: { personId: null } }])
})

test('a sender whose member has left is a stranger, and may become another one', async () => {
  const { channel, key, member, tenantId } = await place()
  const [ada, bob] = [await member('editor'), await member('editor')]
  await say(channel, 'ada', await codeFor(channel, ada.key))
  await app.owner`delete from member where tenant_id = ${tenantId} and person_id = ${ada.personId}`
  expect(await identitiesOf(channel, key)).toEqual([])
  await say(channel, 'ada', 'Hello')
  expect(await channelJobs(app, channel)).toMatchObject([
    { on_behalf: { kind: 'channel', id: channel.id, personId: null } },
  ])
  await say(channel, 'ada', await codeFor(channel, bob.key))
  expect(await identitiesOf(channel, key)).toMatchObject([
    { sender: 'ada', personId: bob.personId },
  ])
})

test('a sender of another channel or of a name that looks alike is not linked', async () => {
  const { channel, key, member } = await place()
  const ada = await member('owner')
  await say(channel, 'ada', await codeFor(channel, ada.key))
  for (const sender of ['аda', 'ADA', 'ada\u200b', 'ada\u0301', 'ａda'])
    await say(channel, sender, 'Show me the queue')
  expect((await channelJobs(app, channel)).map(({ on_behalf }) => on_behalf.personId)).toEqual(
    Array(5).fill(null),
  )
  expect(await identitiesOf(channel, key)).toHaveLength(1)
})

test('members end their own links, owners and approvers any', async () => {
  const { channel, key, member } = await place()
  const [ada, bob, approver] = [
    await member('viewer'),
    await member('editor'),
    await member('approver'),
  ]
  for (const [sender, { key }] of [
    ['ada', ada],
    ['bob', bob],
  ] as const)
    await say(channel, sender, await codeFor(channel, key))
  const identities = await identitiesOf(channel, key)
  const [adas, bobs] = ['ada', 'bob'].map((name) =>
    identities.find(({ sender }: { sender: string }) => sender === name),
  )
  const end = (id: string, by: string) =>
    app.send('DELETE', at(channel, `identities/${id}`), { key: by })
  expect((await end(adas.id, bob.key)).status).toBe(403)
  expect((await end(adas.id, ada.key)).body).toEqual({ identity: adas })
  expect((await end(adas.id, ada.key)).status).toBe(404)
  expect((await end(bobs.id, approver.key)).status).toBe(200)
  expect(await identitiesOf(channel, key)).toEqual([])
  await say(channel, 'ada', 'Hello')
  expect((await channelJobs(app, channel)).at(-1)!.on_behalf.personId).toBeNull()
})

test('codes are shown once', async () => {
  const { channel, member } = await place()
  const ada = await member('editor')
  const code = await codeFor(channel, ada.key)
  const [row] =
    await app.owner`select code_hash from channel_link_code where connection_id = ${channel.id}`
  expect(row!.code_hash).not.toContain(code.replace('-', ''))
})

test('identities are listed in pages, newest first', async () => {
  const { channel, key, member } = await place()
  for (const sender of ['a', 'b', 'c'])
    await say(channel, sender, await codeFor(channel, (await member('editor')).key))
  const first = (await app.send('GET', at(channel, 'identities?limit=2'), { key })).body
  const rest = (
    await app.send('GET', at(channel, `identities?limit=2&cursor=${first.nextCursor}`), { key })
  ).body
  const senders = [...first.identities, ...rest.identities].map(
    ({ sender }: { sender: string }) => sender,
  )
  expect([senders, rest.nextCursor]).toEqual([['c', 'b', 'a'], null])
})
