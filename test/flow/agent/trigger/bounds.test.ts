/**
 * What bounds schedules and webhook rules: how many are active, run and are kept, how much comes
 * in, and when that is forgotten.
 */
import { describe, expect, test } from 'bun:test'
import { KEPT_MESSAGES } from '#domain/agent/trigger/schedule'
import { sweepSome } from '#store/app/sweep'
import { overJob } from '#test/support/agent/agent'
import {
  comeDue,
  goalModel,
  makeSchedule,
  runsOf,
  scheduleOf,
  scheduling,
} from '#test/support/agent/schedules'
import { makeWebhookRule, post } from '#test/support/agent/webhook-rules'
import { eventually } from '#test/support/app'
import { useApp } from '#test/support/use'

const app = useApp({ model: goalModel('Looked.') })

const { person, place, scheduled, called, overRuns } = scheduling(app)

const startedRuns = (id: string, count: number) =>
  eventually(
    () => runsOf({ app }, id),
    ({ length }) => length === count,
  )

describe('a schedule', () => {
  test('keeps the newest messages of its conversation', async () => {
    const { surface, id } = await scheduled()
    await comeDue(surface, id)
    await overRuns(id, 1)
    const { conversation_id } = (await scheduleOf({ app }, id))!
    await app.owner`insert into agent_message (id, tenant_id, conversation_id, seq, role, content,
      author, created_at, updated_at)
      select gen_random_uuid(), ${surface.tenantId}, ${conversation_id}, seq, 'notice', 'old', '{}',
        now(), now()
      from generate_series(3, 302) seq`
    await app.owner`update agent_conversation set next_seq = 303 where id = ${conversation_id}`
    await comeDue(surface, id)
    await overRuns(id, 2)
    const [kept] =
      await app.owner`select count(*)::int as all, max(seq) as newest from agent_message
        where conversation_id = ${conversation_id}`
    expect({ ...kept }).toEqual({ all: KEPT_MESSAGES + 1, newest: 304 })
  })

  test('begins no further run while twenty are not over', async () => {
    const { surface, id } = await scheduled()
    await comeDue(surface, id)
    const [first] = await overRuns(id, 1)
    await app.owner`insert into agent_job (id, tenant_id, kind, status, goal, conversation_id,
      root_id, origin, on_behalf, tier, model, created_at, updated_at)
      select gen_random_uuid(), tenant_id, 'turn', 'waiting_approval', 'x', conversation_id, id,
        'manual', on_behalf, tier, model, now(), now()
      from agent_job, generate_series(1, 20) where id = ${first!.id}`
    const refused = await surface.send('POST', `schedules/${id}/run`)
    expect([refused.status, refused.body.error.message]).toEqual([429, 'rate_limited:agent_jobs'])
    await comeDue(surface, id)
    await eventually(
      () => scheduleOf({ app }, id),
      (found) => found!.missed === 1,
    )
    await startedRuns(id, 1)
  })

  test('is one of at most fifty that are active, and the others are kept to a bound', async () => {
    const { surface, by } = await place()
    const ids: string[] = []
    for (let made = 0; made < 50; made++) ids.push((await makeSchedule(surface, { by })).id)
    const full = await called({ surface, by }, 'schedule_task', { goal: 'x', cron: '0 9 * * 1' })
    expect(full.error).toContain('50 active schedules')
    await surface.send('PATCH', `schedules/${ids[0]}`, { status: 'paused' })
    expect(
      await called({ surface, by }, 'schedule_task', { goal: 'x', cron: '0 9 * * 1' }),
    ).toMatchObject({ state: 'done' })
    expect((await surface.send('PATCH', `schedules/${ids[0]}`, { status: 'active' })).status).toBe(
      409,
    )
    await app.owner`insert into agent_schedule (id, tenant_id, goal, pattern, time_zone, status,
      on_behalf, created_at, updated_at)
      select gen_random_uuid(), ${surface.tenantId}, 'old', '0 9 * * 1', 'UTC', 'cancelled', '{}',
        now(), now() - interval '1 day'
      from generate_series(1, 250)`
    await surface.send('DELETE', `schedules/${ids[1]}`)
    await called({ surface, by }, 'schedule_task', { goal: 'y', cron: '0 9 * * 1' })
    const [past] = await app.owner`select count(*)::int as all from agent_schedule
        where tenant_id = ${surface.tenantId} and status <> 'active'`
    expect(past!.all).toBe(200)
  })
})

describe('a post to a webhook rule', () => {
  const ruled = async () => {
    const at = await place()
    return { ...at, rule: await makeWebhookRule(at.surface, { by: at.by }) }
  }

  test('over sixty an hour is refused with the time to wait, and one that came before is still known', async () => {
    const { surface, rule } = await ruled()
    await app.owner`insert into inbound_event (tenant_id, source_id, event_id, job_id, at)
      select ${surface.tenantId}, ${rule.id}, 'evt_' || nth, gen_random_uuid(),
        now() - interval '51 minutes' from generate_series(1, 60) nth`
    const refused = await post(app.url, rule, { id: 'evt_61' })
    expect([refused.status, refused.body.error!.message]).toEqual([
      429,
      'rate_limited:webhook_rule',
    ])
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeWithin(400, 600)
    expect((await post(app.url, rule, { id: 'evt_7' })).status).toBe(200)
    expect((await surface.send('GET', `webhook-rules/${rule.id}`)).body.webhookRule).toMatchObject({
      refused: 1,
      received: 0,
    })
    await app.owner`update inbound_event set at = now() - interval '61 minutes'
      where event_id = 'evt_1' and source_id = ${rule.id}`
    expect((await post(app.url, rule, { id: 'evt_61' })).status).toBe(200)
  })

  test('begins no job in the last hundred places, where members who have few find one', async () => {
    const { surface, rule, key } = await ruled()
    const other = await person(surface, 'editor')
    expect((await post(app.url, rule)).status).toBe(200)
    const { id } = (await startedRuns(rule.id, 1))[0]!
    await overJob(app, id)
    await app.owner`insert into agent_job (id, tenant_id, kind, status, goal, root_id, origin,
      on_behalf, tier, model, created_at, updated_at)
      select gen_random_uuid(), tenant_id, 'turn', 'waiting_approval', 'flood', id, 'manual',
        on_behalf, tier, model, now(), now()
      from agent_job, generate_series(1, 400) where id = ${id}`
    expect((await post(app.url, rule)).status).toBe(429)
    const say = async (as: string) =>
      (await app.send('POST', '/api/v1/agent/messages', { key: as, body: { content: 'Hello' } }))
        .status
    expect([await say(key), await say(other.key), await say(surface.key)]).toEqual([429, 201, 201])
    await app.owner`delete from agent_job where tenant_id = ${surface.tenantId} and goal = 'flood'`
  })

  test('is bounded in size, and any text in UTF-8', async () => {
    const { rule } = await ruled()
    expect((await post(app.url, rule, { body: 'x'.repeat(65_537) })).status).toBe(413)
    expect((await post(app.url, rule, { body: 'x'.repeat(65_536) })).status).toBe(200)
    expect((await post(app.url, rule, { body: 'a\0b' })).status).toBe(200)
    expect((await fetch(`${app.url}${rule.path}`)).status).toBe(405)
    await startedRuns(rule.id, 2)
  })
})

test('events go after 30 days, conversations of posts with their jobs, and others stay', async () => {
  const { tenantId } = await app.newWorkspace()
  const { id } = await app.newKey(['api:read', 'workspace:use'], tenantId)
  const rule = await makeWebhookRule(
    { app, tenantId },
    { by: { kind: 'key', id, personId: null }, goal: '/learnings list' },
  )
  for (const event of ['evt_1', 'evt_2']) await post(app.url, rule, { id: event })
  const [first] = await runsOf({ app }, rule.id)
  for (const run of await runsOf({ app }, rule.id)) await overJob(app, run.id)
  const sweep = async () => {
    while (
      await sweepSome(app.workplace.db, tenantId, { keepDays: 400, agentKeepDays: 90, rows: 10 })
    );
    const [left] = await app.owner`select (select count(*)::int from inbound_event
        where tenant_id = ${tenantId}) as events,
      (select count(*)::int from agent_conversation where tenant_id = ${tenantId}) as conversations,
      (select count(*)::int from agent_message where tenant_id = ${tenantId}) as messages`
    return { ...left }
  }
  const whole = await sweep()
  expect(whole).toMatchObject({ events: 2, conversations: 2 })
  await app.owner`update inbound_event set at = now() - interval '31 days'
    where source_id = ${rule.id} and event_id = 'evt_1'`
  await app.owner`update agent_conversation set last_at = now() - interval '91 days'
    where tenant_id = ${tenantId}`
  expect(await sweep()).toMatchObject({ events: 1, conversations: 2 })
  await app.owner`update agent_job set ended_at = now() - interval '91 days'
    where id = ${first!.id}`
  // The job goes first, and its conversation with the next pass.
  await sweep()
  expect(await sweep()).toMatchObject({ events: 1, conversations: 1, messages: whole.messages / 2 })
})
