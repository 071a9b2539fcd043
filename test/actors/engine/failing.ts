/** Rows whose claim or outcome fails, in a store of their own. */
import type { AnyLane, Ending } from '#actors/engine/lane'
import { workTable } from '#decisions/work'
import { newId } from '#kernel/ids'
import type { Sql } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import {
  type ActorsOptions,
  actorStore,
  actorsOn,
  counters,
  type FakeLane,
  fakeLane,
  type Store,
} from '#test/support/actors/actors'
import { addWork, letterOf } from '#test/support/actors/letters'
import { eventually } from '#test/support/eventually'

/** Beside the others: what fails rests for seconds. */
export const inStore =
  <A extends unknown[]>(run: (store: Store, ...args: A) => Promise<void>) =>
  async (...args: A): Promise<void> => {
    await using store = await actorStore()
    await run(store, ...args)
  }

export const counted = (key: string): Effects => ({ spend: [{ key, period: 'test', amount: 1 }] })

interface Failing {
  lane: Ending<FakeLane>
  /** The record whose row fails. */
  bad: string
  tries: number
}

/**
 * Its row cannot be claimed, or its outcome not be settled, for so many times. Its end is counted
 * under `ended:<state>`.
 */
export const failing = (
  where: 'claim' | 'settle',
  fail: (sql: Sql) => Promise<unknown>,
  times = Number.POSITIVE_INFINITY,
): Failing => {
  const [usual, bad] = [fakeLane({ kind: 'fake', instant: true }), newId()]
  const failed: Failing = { lane: undefined as never, bad, tries: 0 }
  const trying = async (sql: Sql, { ref_id }: Work): Promise<void> => {
    if (ref_id !== bad || failed.tries >= times) return
    failed.tries++
    await fail(sql)
  }
  failed.lane = Object.assign(usual, {
    claim: async (...[sql, , work]: Parameters<FakeLane['claim']>) => {
      if (where === 'claim') await trying(sql, work)
      return { job: { refId: work.ref_id }, decision: { reply: undefined } }
    },
    settle: async (...[sql, , { work }]: Parameters<FakeLane['settle']>) => {
      if (where === 'settle') await trying(sql, work)
      return {
        reply: undefined,
        effects: { settled: [work.id], ...counted(`settled:${work.ref_id}`) },
      }
    },
    givenUp: async (_sql: Sql, _gate: unknown, work: Work) => ({
      reply: undefined,
      effects: { settled: [work.id], ...counted(`ended:${work.state}`) },
    }),
  })
  return failed
}

export const kindsWith = (end: 'ends' | 'rests') => ({
  ...workTable,
  inVain: { fake: { most: 3, end } },
})

export const becomes = (store: Store, tenant: string, key: string) =>
  eventually(
    () => counters(store, tenant),
    (counts) => counts[key] === 1,
  )
export const rowOf = async (store: Store, ref: string) =>
  (
    await store.owner<(Work & { due_at: Date | null })[]>`select * from work where ref_id = ${ref}`
  )[0]
export const hang = () => new Promise(() => {})

/**
 * Once its first letters are over, so that what fails shares no transaction with the test's own
 * letter.
 */
export const started = async (
  store: Store,
  lane: AnyLane,
  end: 'ends' | 'rests',
  more: ActorsOptions = {},
) => {
  const actors = await actorsOn(store, { lanes: [lane], kinds: kindsWith(end), ...more })
  const tenant = await store.newTenant()
  await actors.runtime.ask(
    tenant,
    letterOf(() => ({ reply: undefined })),
  )
  await eventually(() => actors.runtime.idle, Boolean)
  return {
    ...actors,
    tenant,
    add: (...work: Parameters<typeof addWork>) => actors.runtime.ask(tenant, addWork(...work)),
  }
}
