/** Deleted conversations are erased after 30 days, with all that was made of them. */
import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { noteSweeps, sweepSome, takeSweepable } from '#store/app/sweep'
import { makeConversation, makeJob } from '#test/support/agent/records'
import type { Workspace } from '#test/support/arrange'
import { makeChannel } from '#test/support/channels/channels'
import { newWorkspace } from '#test/support/contract/prepare'
import { useApp } from '#test/support/use'

const app = useApp({ overrides: { sweep: { everyMs: 86_400_000 } } })
const KEEP = { keepDays: 400, agentKeepDays: 90 }
const db = () => app.workplace.db

/** Sweeps until nothing is left to remove, so many rows at a time. */
const sweep = async ({ tenantId }: Workspace, rows = 1_000): Promise<void> => {
  for (let pass = 0; pass < 60; pass++)
    if (!(await sweepSome(db(), tenantId, { ...KEEP, rows }))) return
  throw new Error('the sweep does not end')
}

/**
 * A conversation with feedback, a job of a channel and its child, of which there are events, steps,
 * approvals, and replies.
 */
const made = async (workspace: Workspace) => {
  const { id, messageId } = await makeConversation(workspace)
  const { key, tenantId } = workspace
  await app.send('POST', `/api/v1/agent/conversations/${id}/feedback`, {
    key,
    body: { messageId, verdict: 'up' },
  })
  const over = { status: 'completed', ended_at: new Date() } as const
  const root = (await makeJob(workspace, { ...over, kind: 'channel', conversation_id: id })).id
  const child = (
    await makeJob(workspace, {
      ...over,
      kind: 'delegate',
      parent_id: root,
      root_id: root,
      depth: 1,
    })
  ).id
  const connection = await makeChannel(workspace)
  for (const job of [root, child]) {
    const step = newId()
    await app.owner`insert into agent_step (id, tenant_id, job_id, number, kind, name, state, why,
      attempt, created_at, updated_at)
      values (${step}, ${tenantId}, ${job}, 1, 'model', 'desk', 'done', '[]', 0, now(), now())`
    await app.owner`insert into agent_approval (id, tenant_id, job_id, step_id, conversation_id,
      goal, tool_name, summary, arguments, arguments_hash,
        subject, why, status, decided_how, decided_at, expires_at, created_at, updated_at)
      values (${newId()}, ${tenantId}, ${job}, ${step}, ${id}, 'x', 'growth_overview', 'x', '{}',
        'x', '{}', '[]', 'rejected', 'cancel', now(), now(), now(), now())`
    await app.owner`insert into channel_reply (id, tenant_id, connection_id, job_id,
      conversation_id, recipient, reply_to, text, parts, status, created_at, updated_at)
      values (${newId()}, ${tenantId}, ${connection}, ${job}, ${id}, 'x', '{}', 'x', '[]', 'sent',
        now(), now())`
  }
  await app.owner`insert into channel_message (id, tenant_id, connection_id, state, sender, thread,
    reply_to, job_id, conversation_id, created_at, updated_at)
    values (${newId()}, ${tenantId}, ${connection}, 'taken', 'x', 't', '{}', ${root}, ${id}, now(),
      now())`
  return { id, root }
}

const BY_CONVERSATION = [
  'agent_message',
  'agent_feedback',
  'agent_approval',
  'channel_reply',
  'channel_message',
] as const
const leftOf = async ({ id, root }: { id: string; root: string }): Promise<string[]> => {
  const found = async (table: string, of: object) =>
    (await app.owner`select from ${app.owner(table)} where ${of as never}`).length > 0
      ? [table]
      : []
  const jobs = app.owner`(select j.id from agent_job j where j.root_id = ${root})`
  return [
    ...(await Promise.all(
      BY_CONVERSATION.map((table) => found(table, app.owner`conversation_id = ${id}`)),
    )),
    ...(await Promise.all([
      found('agent_step', app.owner`job_id in ${jobs}`),
      found('agent_event', app.owner`job_id in ${jobs}`),
    ])),
    ...(await Promise.all([
      found('agent_job', app.owner`root_id = ${root}`),
      found('agent_conversation', app.owner`id = ${id}`),
    ])),
  ].flat()
}
const ALL = [...BY_CONVERSATION, 'agent_step', 'agent_event', 'agent_job', 'agent_conversation']

const deleted = async (workspace: Workspace, daysAgo: number) => {
  const one = await made(workspace)
  expect(
    (await app.send('DELETE', `/api/v1/agent/conversations/${one.id}`, { key: workspace.key }))
      .status,
  ).toBe(200)
  await app.owner`update agent_conversation set deleted_at = now() - ${daysAgo} * interval '1 day'
    where id = ${one.id}`
  return one
}

test.each([[1], [1_000]])(
  'are gone, and the audit is there, if a pass removes %i rows',
  async (rows) => {
    const workspace = await newWorkspace(app)
    const [first, second, kept] = [
      await deleted(workspace, 31),
      await deleted(workspace, 32),
      await made(workspace),
    ]
    expect(await leftOf(first)).toEqual(ALL)
    await sweep(workspace, rows)
    expect([await leftOf(first), await leftOf(second)]).toEqual([[], []])
    expect(await leftOf(kept)).toEqual(ALL)
    const audited =
      await app.owner`select operation from audit where ref_id in (${first.id}, ${second.id})
        and operation like '%.remove'`
    expect(audited).toHaveLength(2)
  },
)

test('stay for 30 days, and a workspace that sleeps is visited when the next of them is due', async () => {
  const workspace = await newWorkspace(app)
  const { tenantId } = workspace
  const one = await deleted(workspace, 29)
  await sweep(workspace)
  expect(await leftOf(one)).toEqual(ALL)
  const dueIn = async (): Promise<number> => {
    await app.owner`delete from audit where tenant_id = ${tenantId}`
    await app.owner`delete from idempotency where tenant_id = ${tenantId}`
    await app.owner`update actor set owner = null, sweep_at = now() where tenant_id = ${tenantId}`
    const taken = (await takeSweepable(db(), 1_000)).find((its) => its.tenantId === tenantId)
    await noteSweeps(db(), [taken!], { ...KEEP, everyMs: 60_000 })
    const [row] =
      await app.owner`select extract(epoch from sweep_at - now())::float8 / 3600 as hours from actor
        where tenant_id = ${tenantId}`
    return Math.round(row!.hours)
  }
  expect(await dueIn()).toBe(24)
  await app.owner`update agent_conversation set deleted_at = now() - interval '20 days'
    where id = ${one.id}`
  expect(await dueIn()).toBe(240)
})
