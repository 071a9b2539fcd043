/**
 * What a change of credentials ends: whoever knows the secret of a channel's posts can write as any
 * of its senders.
 */
import { expect, test } from 'bun:test'
import { scopes } from '#kernel/scopes'
import { eventually } from '#test/support/app'
import { CHANNEL_SECRET } from '#test/support/channels/channels'
import {
  channelJobs,
  type DevChannel,
  devChannel,
  linked,
  postDev,
} from '#test/support/channels/dev-posts'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp({ model: scriptedModel(() => ({ text: 'Seen.' })) })

const OTHER = 'another-secret-of-the-channel-0123456789'

/** Two channels of a workspace, each with two linked senders, and a code that is not used yet. */
const place = async () => {
  const { tenantId } = await app.newWorkspace()
  const { api_key: ownKey } = await app.newKey([...scopes], tenantId)
  const owner = await signedIn(app, tenantId, 'owner')
  const approver = await signedIn(app, tenantId, 'approver')
  const channel = await devChannel(app, {}, tenantId)
  const other = await devChannel(app, {}, tenantId)
  for (const one of [channel, other]) {
    await linked(app, one, 'ada', owner.personId)
    await linked(app, one, 'bob', approver.personId)
  }
  const { body } = await app.send('POST', `/api/v1/channels/${channel.id}/link-code`, {
    key: owner.key,
  })
  const keys = { 'a key': ownKey, 'an approver': approver.key, 'an owner': owner.key }
  const patch = (by: keyof typeof keys, change: object) =>
    app.send('PATCH', `/api/v1/channels/${channel.id}`, { key: keys[by], body: change })
  return { tenantId, owner, channel, other, code: body.code as string, patch }
}

const linkedIn = async ({ id }: DevChannel) => [
  ...(
    await app.owner`select external_id from channel_identity where connection_id = ${id} order by 1`
  ).map(({ external_id }) => external_id),
  ...(await app.owner`select 1 from channel_link_code where connection_id = ${id}`).map(
    () => 'a code',
  ),
]

/** Who the sender of the next message is taken for, once posts signed like this are taken in. */
const takenFor = async (channel: DevChannel, text: string, secret: string) => {
  const before = (await channelJobs(app, channel)).length
  await eventually(
    async () => (await postDev(app.url, channel, { sender: 'ada', text }, { secret })).status,
    (status) => status === 200,
  )
  return (await channelJobs(app, channel))[before]!.on_behalf.personId
}

const lastAudit = async (tenantId: string) =>
  (
    await app.owner`select detail from audit where tenant_id = ${tenantId}
      and operation = 'agent.channels.update' order by id desc limit 1`
  )[0]!.detail

test.each(['a key', 'an approver'] as const)(
  'the secret from %s ends every link and code of the channel, and of no other',
  async (by) => {
    const { tenantId, channel, other, code, patch } = await place()
    const { status, body } = await patch(by, { credentials: { secret: OTHER } })
    expect([status, body.endedIdentities]).toEqual([200, 2])
    expect(await linkedIn(channel)).toEqual([])
    expect(await linkedIn(other)).toEqual(['ada', 'bob'])
    expect(await lastAudit(tenantId)).toMatchObject({
      credentials: ['secret'],
      ended_identities: 2,
    })
    expect(await takenFor(channel, 'Show me the queue', OTHER)).toBeNull()
    expect(await takenFor(channel, code, OTHER)).toBeNull()
  },
)

test('the secret from an owner who has signed in ends nothing', async () => {
  const { tenantId, owner, channel, patch } = await place()
  const { status, body } = await patch('an owner', { credentials: { secret: OTHER } })
  expect([status, body.endedIdentities]).toEqual([200, 0])
  expect(await linkedIn(channel)).toEqual(['ada', 'bob', 'a code'])
  expect(await lastAudit(tenantId)).toMatchObject({ ended_identities: 0 })
  expect(await takenFor(channel, 'Show me the queue', OTHER)).toBe(owner.personId)
})

const changes: [string, object, string[]][] = [
  ['the removal of one', { credentials: { secret: null } }, []],
  ['the value as it is shown', { credentials: { secret: '…' } }, ['ada', 'bob', 'a code']],
  ['the same value', { credentials: { secret: CHANNEL_SECRET } }, ['ada', 'bob', 'a code']],
  ['no credential', { credentials: {} }, ['ada', 'bob', 'a code']],
  ['another name', { displayName: 'Desk' }, ['ada', 'bob', 'a code']],
]
test.each(changes)(
  '%s, given by an approver, ends the links only if a credential differs from then on',
  async (_, change, left) => {
    const { channel, patch } = await place()
    const { status, body } = await patch('an approver', change)
    expect([status, body.endedIdentities]).toEqual([200, left.length === 0 ? 2 : 0])
    expect(await linkedIn(channel)).toEqual(left)
  },
)

test('a change that is refused ends nothing', async () => {
  const { channel, patch } = await place()
  expect((await patch('a key', { credentials: { secret: OTHER, 'a b': 'x' } })).status).toBe(400)
  expect(await linkedIn(channel)).toEqual(['ada', 'bob', 'a code'])
})
