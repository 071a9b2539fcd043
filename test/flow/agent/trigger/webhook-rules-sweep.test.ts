/** What comes in is forgotten after 30 days, and the conversations that it began once their jobs are past their retention. */
import { expect, test } from 'bun:test'
import { sweepSome } from '#store/app/sweep'
import { overJob } from '#test/support/agent/agent'
import { runsOf } from '#test/support/agent/schedules'
import { makeWebhookRule, post } from '#test/support/agent/webhook-rules'
import { useApp } from '#test/support/use'

const app = useApp()

test('events go after 30 days, conversations of posts with their jobs, and others stay', async () => {
  const { tenantId } = await app.newWorkspace()
  const { id } = await app.newKey(['api:read', 'workspace:use'], tenantId)
  const rule = await makeWebhookRule({ app, tenantId }, { by: { kind: 'key', id, personId: null }, goal: '/learnings list' })
  for (const event of ['evt_1', 'evt_2']) await post(app.url, rule, { id: event })
  const [first] = await runsOf({ app }, rule.id)
  for (const run of await runsOf({ app }, rule.id)) await overJob(app, run.id)
  const sweep = async () => {
    while (await sweepSome(app.workplace.db, tenantId, { keepDays: 400, agentKeepDays: 90, rows: 10 }));
    const [left] = await app.owner`select (select count(*)::int from inbound_event where tenant_id = ${tenantId}) as events,
      (select count(*)::int from agent_conversation where tenant_id = ${tenantId}) as conversations,
      (select count(*)::int from agent_message where tenant_id = ${tenantId}) as messages`
    return { ...left }
  }
  const whole = await sweep()
  expect(whole).toMatchObject({ events: 2, conversations: 2 })
  await app.owner`update inbound_event set at = now() - interval '31 days' where source_id = ${rule.id} and event_id = 'evt_1'`
  await app.owner`update agent_conversation set last_at = now() - interval '91 days' where tenant_id = ${tenantId}`
  expect(await sweep()).toMatchObject({ events: 1, conversations: 2 })
  await app.owner`update agent_job set ended_at = now() - interval '91 days' where id = ${first!.id}`
  // The job goes first, and its conversation with the next pass.
  await sweep()
  expect(await sweep()).toMatchObject({ events: 1, conversations: 1, messages: whole.messages / 2 })
})
