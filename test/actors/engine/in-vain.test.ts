/**
 * No row may be claimed for ever: what fails rests, is claimed alone, is counted in its row, and
 * ends by what is known or rests for an hour.
 */
import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import type { Sql } from '#store/engine/db'
import type { Work } from '#store/engine/work'
import { actorsOn, fakeLane } from '#test/support/actors/actors'
import { addWork, workOn } from '#test/support/actors/letters'
import { eventually } from '#test/support/eventually'
import { becomes, counted, failing, hang, inStore, kindsWith, rowOf, started } from './failing.ts'

/** `most`: as often is it tried. The first time it may be, once more, alone, at once. */
const ways: [words: string, fail: (sql: Sql) => Promise<unknown>, most: number][] = [
  ['throws', () => Promise.reject(new Error('no')), 4],
  ['makes a statement fail', async (sql) => await sql`select 1 / 0`, 4],
  [
    'takes the database too long',
    async (sql) => {
      await sql`select set_config('statement_timeout', '100', true)`
      await sql`select pg_sleep(60)`
    },
    3,
  ],
  [
    'loses its connection',
    (sql) => sql`select set_config('idle_in_transaction_session_timeout', '50', true)`.then(hang),
    3,
  ],
  ['hangs', hang, 3],
]

test.concurrent.each(ways)(
  'a row whose claim %s ends after the bound of its kind, with nothing sent, and others go on',
  inStore(async (store, _, fail, most) => {
    const failed = failing('claim', fail)
    await using actors = await started(store, failed.lane, 'ends')
    const { tenant, add } = actors
    const good = newId()
    await add(workOn(failed.bad, { key: 'bad' }), workOn(good, { key: 'good', runAt: new Date() }))
    await becomes(store, tenant, `settled:${good}`)
    expect(await becomes(store, tenant, 'ended:queued')).toEqual({
      'ended:queued': 1,
      [`settled:${good}`]: 1,
    })
    expect([await rowOf(store, failed.bad), failed.lane.started]).toEqual([undefined, [good]])
    expect(failed.tries).toBeLessThanOrEqual(most)
  }),
)

test.concurrent.each(ways)(
  'an outcome that %s while it is settled ends as perhaps sent, and its row does not run again',
  inStore(async (store, _, fail) => {
    const failed = failing('settle', fail)
    await using actors = await started(store, failed.lane, 'ends')
    const { tenant, add } = actors
    const good = newId()
    await add(workOn(failed.bad, { key: 'bad' }), workOn(good, { key: 'good', runAt: new Date() }))
    await becomes(store, tenant, `settled:${good}`)
    await becomes(store, tenant, 'ended:running')
    expect(failed.lane.started.filter((ref) => ref === failed.bad)).toHaveLength(1)
  }),
)

test.concurrent(
  'a row of a kind that must go on rests for an hour, keeps its own due time, and is not hastened',
  inStore(async (store) => {
    const failed = failing('claim', () => Promise.reject(new Error('no')))
    await using actors = await started(store, failed.lane, 'rests')
    const work = workOn(failed.bad)
    await actors.add(work)
    const rests = (row: Awaited<ReturnType<typeof rowOf>>) => row?.failures === 3
    const row = await eventually(() => rowOf(store, failed.bad), rests)
    expect(row!.due_at).toEqual(work.runAt)
    expect(row!.run_at.getTime()).toBeGreaterThan(Date.now() + 3_500_000)
    await actors.add({ ...workOn(failed.bad), second: 'hastens', runAt: new Date() })
    expect(await rowOf(store, failed.bad)).toEqual(row!)
  }),
)

test.concurrent(
  'not even a row whose end fails is claimed for ever',
  inStore(async (store) => {
    const failed = failing('claim', () => Promise.reject(new Error('no')))
    failed.lane.givenUp = () => Promise.reject(new Error('nor that'))
    const tenant = await store.newTenant()
    {
      await using before = await actorsOn(store, { lanes: [], kinds: kindsWith('ends') })
      await before.runtime.ask(tenant, addWork(workOn(failed.bad)))
      await store.owner`update work set failures = 3 where ref_id = ${failed.bad}`
    }
    await using _actors = await actorsOn(store, { lanes: [failed.lane], kinds: kindsWith('ends') })
    const audit = () =>
      store.owner`select detail from audit where tenant_id = ${tenant}
        and operation = 'work.dropped' and ref_id = ${failed.bad}`
    expect(await eventually(audit, (rows) => rows.length > 0)).toEqual([
      { detail: { kind: 'fake', failures: 6 } },
    ] as never)
    expect(await rowOf(store, failed.bad)).toBeUndefined()
  }),
)

test.concurrent(
  'an orphan that cannot be settled ends, and does not stop the others',
  inStore(async (store) => {
    const lane = fakeLane({ instant: true })
    const bad = newId()
    const orphaned = lane.orphaned
    Object.assign(lane, {
      orphaned: (...[sql, gate, work]: Parameters<typeof orphaned>) =>
        work.ref_id === bad ? Promise.reject(new Error('no')) : orphaned(sql, gate, work),
      givenUp: async (_sql: Sql, _gate: unknown, work: Work) => ({
        reply: undefined,
        effects: { settled: [work.id], ...counted(`ended:${work.state}`) },
      }),
    })
    const [tenant, good] = [await store.newTenant(), newId()]
    {
      await using before = await actorsOn(store, { lanes: [] })
      await before.runtime.ask(
        tenant,
        addWork(workOn(bad, { key: 'bad' }), workOn(good, { key: 'good' })),
      )
    }
    await store.owner`update work set state = 'running', claimed_by = ${newId()}, attempt = 1
      where tenant_id = ${tenant}`
    await using _actors = await actorsOn(store, { lanes: [lane], kinds: kindsWith('ends') })
    await becomes(store, tenant, `settled:${good}`)
    await becomes(store, tenant, 'ended:running')
    expect(await rowOf(store, bad)).toBeUndefined()
  }),
)
