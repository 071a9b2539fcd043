/**
 * What channels brought and were sent is forgotten after its retention, but for what is still on
 * its way.
 */
import { expect, test } from 'bun:test'
import type { ChannelReply } from '#domain/agent/channel/reply'
import { newId } from '#kernel/ids'
import { sweepSome } from '#store/app/sweep'
import { makeReply } from '#test/support/channels/replies'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp({ overrides: { lanes: [] } })

const place = async () => {
  const { tenantId } = await app.newWorkspace()
  return {
    tenantId,
    replyWith: (status: ChannelReply['status']) =>
      makeReply({ app, tenantId } as never, { status }),
  }
}

const sweep = async (tenantId: string): Promise<void> => {
  while (
    await sweepSome(app.workplace.db, tenantId, { keepDays: 400, agentKeepDays: 90, rows: 2 })
  );
}

test('replies go after their retention, unless they still go out', async () => {
  const { tenantId, replyWith } = await place()
  const statuses = ['held', 'queued', 'sending', 'sent', 'failed', 'unknown', 'discarded'] as const
  for (const status of statuses) await replyWith(status)
  const young = await replyWith('sent')
  const left = async () =>
    (
      await app.owner<
        { status: string }[]
      >`select status from channel_reply where tenant_id = ${tenantId} order by status`
    ).map(({ status }) => status)
  await app.owner`update channel_reply set created_at = now() - interval '89 days'
    where tenant_id = ${tenantId}`
  await sweep(tenantId)
  expect(await left()).toHaveLength(statuses.length + 1)
  await app.owner`update channel_reply set created_at = now() - interval '91 days'
    where tenant_id = ${tenantId} and id <> ${young}`
  await sweep(tenantId)
  expect(await left()).toEqual(['queued', 'sending', 'sent'])
})

test('messages go with them once their jobs are over, unless they are still fetched', async () => {
  const { tenantId, replyWith } = await place()
  await replyWith('held')
  const [channel] = await app.owner<
    { id: string }[]
  >`select id from channel_connection where tenant_id = ${tenantId}`
  const add = async (state: string, ended: boolean | null) => {
    const [job, id] = [ended === null ? null : newId(), newId()]
    if (job)
      await app.owner`insert into agent_job (id, tenant_id, kind, status, goal, root_id, origin,
        on_behalf, tier, model, ended_at, created_at, updated_at)
        values (${job}, ${tenantId}, 'channel', ${ended ? 'completed' : 'waiting_approval'}, 'x',
          ${job}, 'manual', '{}', 'fast', 'm',
          ${ended ? new Date() : null}, now(), now())`
    await app.owner`insert into channel_message (id, tenant_id, connection_id, state, sender,
      thread, text, reply_to, job_id, created_at, updated_at)
      values (${id}, ${tenantId}, ${channel!.id}, ${state}, 'ada', 't', 'x', '{}', ${job},
        now() - interval '91 days', now())`
    return id
  }
  await add('taken', true)
  await add('failed', null)
  const kept = [await add('taken', false), await add('fetching', null)]
  await sweep(tenantId)
  expect(
    (
      await app.owner<
        { id: string }[]
      >`select id from channel_message where tenant_id = ${tenantId} order by id`
    ).map(({ id }) => id),
  ).toEqual(kept.sort())
})
