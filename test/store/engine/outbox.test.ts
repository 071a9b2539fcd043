/** How many events are kept and for how long; and that no statement reads all of them. */
import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { openDb, type Sql } from '#store/engine/db'
import { loadNow } from '#store/engine/load'
import {
  eventLog,
  firstDueEvent,
  giveUpEvents,
  nextEvent,
  outboxLimits,
  removeExpiredEvents,
  removeSurplusEvents,
} from '#store/engine/outbox'
import { eventually } from '#test/support/app'
import { type PlanNode, planOf } from '#test/support/database/plans'
import { eventOf, type Hook, newHook } from '#test/support/http/hooks'
import { useApp } from '#test/support/use'

const app = useApp({ newDatabase: true })

interface Some {
  state: 'unwanted' | 'dead' | 'pending'
  /** Hours from now; for those that wait: when they are due. */
  hours: number
  subjects?: number
}

const insert = (
  { tenantId }: Hook,
  count: number,
  { state, hours, subjects = count }: Some,
) => app.owner`
  insert into outbox (id, tenant_id, type, data, created_at, subject, state, next_at, expires_at)
  select gen_random_uuid(), ${tenantId}, 'growth.item.posted', '{}',
    now() - interval '1 day' + n * interval '1 second', (n % ${subjects}::int)::text, ${state},
    case when ${state} = 'pending' then now() + ${hours} * interval '1 hour' end, case
      when ${state} <> 'pending' then now() + ${hours} * interval '1 hour' end
  from generate_series(1, ${count}) n`

const countOf = async ({ tenantId }: Hook, state: string): Promise<number> =>
  (
    await app.owner`select count(*)::int as count from outbox where tenant_id = ${tenantId}
      and state = ${state}`
  )[0]!.count

/** A letter that also removes, which some do by the ids of their events. */
const trimmingLetter = (hook: Hook): Promise<void> =>
  hook.emit({ ...eventOf('a'), id: newId().replace(/..$/, '00') })

test('later letters delete expired events, some at a time; others stay', async () => {
  const hook = await newHook(app)
  await insert(hook, 700, { state: 'dead', hours: -1 })
  await insert(hook, 50, { state: 'dead', hours: 1 })
  await insert(hook, 50, { state: 'pending', hours: 24 })
  await hook.emit({ ...eventOf('a'), id: newId().replace(/.$/, '1') })
  expect(await countOf(hook, 'dead')).toBe(750)
  await trimmingLetter(hook)
  expect(await countOf(hook, 'dead')).toBe(250)
  await trimmingLetter(hook)
  expect([
    await countOf(hook, 'dead'),
    await countOf(hook, 'pending'),
    await countOf(hook, 'unwanted'),
  ]).toEqual([50, 50, 3])
})

test('a workspace keeps a limited number of events, whatever their age', async () => {
  const hook = await newHook(app)
  await insert(hook, outboxLimits.finished + 600, { state: 'unwanted', hours: 20 })
  await trimmingLetter(hook)
  await trimmingLetter(hook)
  await trimmingLetter(hook)
  const kept = await countOf(hook, 'unwanted')
  expect(kept - outboxLimits.finished).toBeGreaterThanOrEqual(0)
  expect(kept - outboxLimits.finished).toBeLessThanOrEqual(2)
})

test('letters with events of random ids delete often enough', async () => {
  const hook = await newHook(app)
  await insert(hook, 10, { state: 'dead', hours: -1 })
  const left = async () => {
    await hook.emit(eventOf('a'))
    return countOf(hook, 'dead')
  }
  expect(await eventually(left, (count) => count === 0)).toBe(0)
})

/** Runs statements as the server does in this workspace. */
const inTenant = async <T>({ tenantId }: Hook, run: (sql: Sql) => PromiseLike<T>): Promise<T> => {
  await using db = openDb({ ...app.options, max: 1 })
  return await db.letter(tenantId, async (sql) => {
    await sql`select set_config('app.tenant', ${tenantId}, true)`
    return run(sql)
  })
}

test('above a number of pending events the oldest are given up, some at a time', async () => {
  const hook = await newHook(app)
  await insert(hook, outboxLimits.waiting + 700, { state: 'pending', hours: 24 })
  // Their ids are random.
  const byAge = () =>
    app.owner`select state, last_error from outbox where tenant_id = ${hook.tenantId}
      order by created_at`
  const giveUp = giveUpEvents({
    beyond: outboxLimits.waiting,
    reason: 'too many events are waiting',
    expiresAt: new Date(Date.now() + 3_600_000),
  })
  for (const left of [200, 0, 0]) {
    await inTenant(hook, (sql) => giveUp(sql))
    expect((await countOf(hook, 'pending')) - outboxLimits.waiting).toBe(left)
  }
  const rows = await byAge()
  expect(rows[0]).toMatchObject({ state: 'dead', last_error: 'too many events are waiting' })
  expect(rows.slice(0, 700).every(({ state }) => state === 'dead')).toBe(true)
})

test('disabling an endpoint gives up all its pending events', async () => {
  const hook = await newHook(app)
  await hook.set('https://hooks.example.com/')
  await insert(hook, 1_300, { state: 'pending', hours: 24 })
  await hook.disable()
  expect(
    await eventually(
      () => countOf(hook, 'pending'),
      (count) => count === 0,
    ),
  ).toBe(0)
  expect(await countOf(hook, 'dead')).toBe(1_300)
  expect(await eventually(hook.due, ({ run_at }) => run_at === null)).toEqual({
    run_at: null,
    wake_at: null,
  })
})

test('reads of the outbox use indexes', async () => {
  const hook = await newHook(app)
  await insert(hook, 3_000, { state: 'unwanted', hours: 20 })
  await insert(hook, 3_000, { state: 'dead', hours: 200 })
  await insert(hook, 300, { state: 'pending', hours: 1, subjects: 100 })
  await app.owner`analyze outbox`
  const explained: PlanNode[][] = []
  await inTenant(hook, async (sql) => {
    // What the planner prefers depends on what the other tests have left; what it could use does
    // not.
    await sql`set local enable_seqscan = off`
    const explain = async (query: unknown) => explained.push(await planOf(sql, query as never))
    await explain(removeExpiredEvents(sql))
    await explain(removeSurplusEvents(sql))
    await explain(firstDueEvent(sql))
    await explain(eventLog({ limit: 100, type: 'growth.item.posted' })(sql))
    await explain(firstDueEvent(sql, { eventId: newId(), subject: '1' }))
    const { first, other } = await loadNow(sql, {
      first: nextEvent(),
      other: nextEvent({ eventId: newId(), subject: '1' }),
    })
    expect([first, other]).toMatchObject([{ subject: '1' }, { subject: '2' }])
  })
  for (const nodes of explained)
    expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([])
  // However many wait, only those before it are passed.
  for (const nodes of [explained[2]!, explained[4]!]) {
    expect(nodes.map((node) => node['Index Name'])).toContain('outbox_due')
    expect(nodes.filter((node) => node['Node Type'] === 'Sort')).toEqual([])
  }
})
