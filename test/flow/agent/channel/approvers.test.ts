/**
 * Members who may decide hear in their channel of every call that waits, where the connection says
 * so.
 */
import { expect, test } from 'bun:test'
import type { Role } from '#kernel/roles'
import { eventually } from '#test/support/app'
import { type DevChannel, devChannel, linked, postDev } from '#test/support/channels/dev-posts'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const RULE = ['create_webhook_rule', { name: 'Orders', goal: 'Say what was ordered' }] as const
const app = useApp({
  model: scriptedModel((_, answers) =>
    answers === 0 ? { calls: [[...RULE]] } : { text: 'Done.' },
  ),
})

const linkedAs = async (channel: DevChannel, sender: string, role: Role) => {
  const person = await signedIn(app, channel.tenantId, role)
  const id = await linked(app, channel, sender, person.personId)
  await app.owner`update channel_identity set reply_to = ${app.owner.json({ sender })}
    where id = ${id}`
  return { ...person, identity: id }
}

const place = async (config: Record<string, unknown> = { approvals: 'all' }) => {
  const { tenantId } = await app.newWorkspace()
  const channel = await devChannel(app, { config }, tenantId)
  const owner = await linkedAs(channel, 'owner', 'owner')
  const approver = await linkedAs(channel, 'approver', 'approver')
  const editor = await linkedAs(channel, 'editor', 'editor')
  return { tenantId, channel, owner, approver, editor }
}

interface Line {
  recipient: string
  text: string
}

const lines = async ({ id }: DevChannel): Promise<Line[]> => [
  ...(await app.owner<
    Line[]
  >`select recipient, text from channel_reply where connection_id = ${id} order by recipient, id`),
]

const pending = (tenantId: string) =>
  eventually(
    async () => [
      ...(await app.owner<
        { id: string }[]
      >`select id from agent_approval where tenant_id = ${tenantId}`),
    ],
    (all) => all.length > 0,
  )

const ask = async (tenantId: string, key: string) => {
  const { status } = await app.send('POST', '/api/v1/agent/messages', {
    key,
    body: { content: 'Make a rule' },
  })
  expect(status).toBe(201)
  return (await pending(tenantId))[0]!.id
}

test('a call that waits is told to linked owners and approvers, with the page where to decide', async () => {
  const { tenantId, channel, editor } = await place()
  const id = await ask(tenantId, editor.key)
  const told = await lines(channel)
  expect(told.map(({ recipient }) => recipient)).toEqual(['approver', 'owner'])
  for (const { text } of told) {
    expect(text).toContain(`${app.workplace.world.identity.publicUrl}/approvals/${id}`)
    expect(text).toContain('An answer here decides nothing.')
  }
})

test('whoever asked in a channel is told there, and not once more', async () => {
  const { tenantId, channel } = await place()
  await postDev(app.url, channel, { sender: 'approver', text: 'Make a rule' })
  await pending(tenantId)
  const told = await eventually(
    () => lines(channel),
    (all) => all.length > 1,
  )
  expect(told.map(({ recipient }) => recipient)).toEqual(['approver', 'owner'])
  expect(told[0]!.text).toStartWith('This needs a decision before I go on')
})

test('a direct call that waits is told as well', async () => {
  const { tenantId, channel, approver } = await place()
  const { api_key: key } = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
  const { status } = await app.send('POST', '/api/v1/actions/fetch_url', {
    key,
    body: { url: 'https://example.com/a' },
  })
  expect(status).toBe(409)
  // Editors may read pages, and so may decide about it.
  expect((await lines(channel)).map(({ recipient }) => recipient)).toEqual([
    'approver',
    'editor',
    'owner',
  ])
  expect(approver.personId).toBeString()
})

test('nobody is told without the setting, of another workspace, once no longer a member, or where no message reaches them', async () => {
  for (const config of [{}, { approvals: 'asker' }]) {
    const { tenantId, channel, editor } = await place(config)
    await ask(tenantId, editor.key)
    expect(await lines(channel)).toEqual([])
  }
  const { tenantId, channel, owner, approver, editor } = await place()
  const other = await place()
  await app.owner`delete from member where tenant_id = ${tenantId}
    and person_id = ${owner.personId}`
  await app.owner`update channel_identity set reply_to = null where id = ${approver.identity}`
  await ask(tenantId, editor.key)
  expect(await lines(channel)).toEqual([])
  expect(await lines(other.channel)).toEqual([])
})

test('what an approver answers decides nothing', async () => {
  const { tenantId, channel, editor } = await place()
  const id = await ask(tenantId, editor.key)
  for (const text of ['approve', 'yes, do it', `/approvals approve ${id}`, `approve ${id}`])
    expect((await postDev(app.url, channel, { sender: 'owner', text })).status).toBe(200)
  await eventually(
    async () =>
      (
        await app.owner`select 1 from agent_job where tenant_id = ${tenantId}
          and status in ('queued', 'running')`
      ).length,
    (count) => count === 0,
  )
  expect(await app.owner`select status from agent_approval where id = ${id}`).toMatchObject([
    { status: 'pending' },
  ])
  expect([...(await app.owner`select 1 from webhook_rule where tenant_id = ${tenantId}`)]).toEqual(
    [],
  )
})
