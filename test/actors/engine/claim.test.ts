import { describe, expect, test } from 'bun:test'
import { systemClock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { type Db, openDb } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import { actorStore, actorsIn, actorsOn, counters, fakeLane } from '#test/support/actors/actors'
import { addWork, letterOf, newGate, workOn } from '#test/support/actors/letters'
import { eventually } from '#test/support/eventually'
import { use } from '#test/support/use'

const store = use(actorStore)

test('a claim that goes on deciding after its deadline leaves its key to the next one', async () => {
  await using db = openDb({ ...store.options, max: 4 })
  const [claiming, over, decides] = [newGate(), newGate(), newGate()]
  let held = false
  const lane = fakeLane({
    async claim(_sql, _gate, work) {
      if (!held) {
        held = true
        claiming.open()
        await decides.opened
      }
      return { job: { refId: work.ref_id }, decision: { reply: undefined } }
    },
  })
  const unheard = over.opened.then(() => Promise.reject(new AppError('unavailable', 'late')))
  unheard.catch(() => {})
  const transactions: Promise<unknown>[] = []
  const letter: Db['letter'] = (tenantId, body, demand) => {
    const running = db.letter(tenantId, body, demand)
    if (held) return running
    transactions.push(running)
    return Promise.race([running, unheard])
  }
  await using actors = await actorsOn(store, { lanes: [lane], db: { ...db, letter } })
  const tenant = await store.newTenant()
  const [first, second] = [newId(), newId()]
  // The claim may share the transaction of this letter, whose caller then does not hear of it
  // either.
  const added = actors.runtime.ask(
    tenant,
    addWork(workOn(first, { runAt: new Date(Date.now() - 60_000) }), workOn(second)),
  )
  added.catch(() => {})
  await claiming.opened
  over.open()
  await unheard.catch(() => {})
  decides.open()
  // A poll that found nothing, which may have begun beside the claim, is rolled back.
  await Promise.allSettled(transactions)
  await Promise.all([first, second].map(async (ref) => (await lane.runOf(ref)).finish()))
  await eventually(
    () => counters(store, tenant),
    (counts) => counts[`settled:${first}`] === 1 && counts[`settled:${second}`] === 1,
  )
})

test('a claim whose transaction failed by another letter finds its row when it is decided again', async () => {
  const [claiming, decides] = [newGate(), newGate()]
  let claims = 0
  const lane = fakeLane({
    async claim(_sql, _gate, work) {
      if (++claims === 1) {
        claiming.open()
        await decides.opened
      }
      return { job: { refId: work.ref_id }, decision: { reply: undefined } }
    },
  })
  // Time that stands still closes no group.
  const clock = { ...systemClock, monotonic: () => 0 }
  await using actors = await actorsOn(store, { lanes: [lane], clock })
  const [tenant, ref] = [await store.newTenant(), newId()]
  await actors.runtime.ask(tenant, addWork(workOn(ref)))
  await claiming.opened
  const broken: Effects = {
    writes: [(sql) => sql`update work set attempt = 1 / (attempt - attempt)`],
  }
  const joined = actors.runtime.ask(
    tenant,
    letterOf(() => ({ reply: undefined, effects: broken })),
  )
  decides.open()
  await expect(joined).rejects.toThrow('division by zero')
  ;(await lane.runOf(ref)).finish()
  expect(claims).toBe(2)
})

const { start, becomes, workOf } = actorsIn(store)
const later = () => new Date(Date.now() + 3_600_000)

describe('a claim', () => {
  test('with nothing to run settles the work and goes on with the next', async () => {
    const refs = [newId(), newId()]
    const lane = fakeLane({
      instant: true,
      claim: async (_sql, _gate, work) =>
        work.ref_id === refs[0]
          ? { decision: { reply: undefined, effects: { settled: [work.id] } } }
          : { job: { refId: work.ref_id }, decision: { reply: undefined } },
    })
    await using actors = await start({ lanes: [lane] })
    await actors.runtime.ask(actors.tenant, addWork(...refs.map((ref) => workOn(ref))))
    expect(await becomes(actors.tenant, `settled:${refs[1]}`, 1)).toBe(1)
    expect([lane.started, await workOf(actors.tenant)]).toEqual([[refs[1]!], []])
  })

  test('that fails does not block the others', async () => {
    const [lane, ref] = [fakeLane({ instant: true }), newId()]
    await using actors = await start({ lanes: [lane] })
    const unknown = workOn(newId(), { kind: 'unknown' })
    await actors.runtime.ask(
      actors.tenant,
      addWork({ ...unknown, runAt: new Date(0) }, workOn(ref)),
    )
    expect(await becomes(actors.tenant, `settled:${ref}`, 1)).toBe(1)
    expect(await workOf(actors.tenant)).toMatchObject([{ kind: 'unknown', state: 'queued' }])
  })

  test('whose commit gets no answer is settled by the rule of its kind', async () => {
    const lane = fakeLane()
    await using actors = await start({ lanes: [lane] })
    const { runtime, tenant } = actors
    const ref = newId()
    // As such a claim leaves the row: running, here, without a lane.
    const work = workOn(ref, { runAt: later() })
    await runtime.ask(tenant, addWork(work))
    await store.owner`update work set state = 'running', attempt = 1, run_at = now()
      where id = ${work.id}`
    const failing = letterOf<void>(() =>
      Promise.reject(Object.assign(new Error('gone'), { code: '57014' })),
    )
    await expect(runtime.ask(tenant, failing)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await becomes(tenant, `orphaned:${ref}`, 1)).toBe(1)
    ;(await lane.runOf(ref)).finish()
    expect(await becomes(tenant, `settled:${ref}`, 1)).toBe(1)
  })
})
