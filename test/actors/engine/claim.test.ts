import { expect, test } from 'bun:test'
import { systemClock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { type Db, openDb } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import { actorStore, actorsOn, counters, fakeLane } from '#test/support/actors/actors'
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
  let transactions: Promise<unknown> = Promise.resolve()
  const letter: Db['letter'] = (tenantId, body, demand) => {
    const running = db.letter(tenantId, body, demand)
    if (held) return running
    transactions = running
    return Promise.race([running, unheard])
  }
  await using actors = await actorsOn(store, { lanes: [lane], db: { ...db, letter } })
  const tenant = await store.newTenant()
  const [first, second] = [newId(), newId()]
  // The claim may share the transaction of this letter, whose caller then does not hear of it either.
  const added = actors.runtime.ask(tenant, addWork(workOn(first, { runAt: new Date(Date.now() - 60_000) }), workOn(second)))
  added.catch(() => {})
  await claiming.opened
  over.open()
  await unheard.catch(() => {})
  decides.open()
  await transactions
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
  const broken: Effects = { writes: [(sql) => sql`update work set attempt = 1 / (attempt - attempt)`] }
  const joined = actors.runtime.ask(
    tenant,
    letterOf(() => ({ reply: undefined, effects: broken })),
  )
  decides.open()
  await expect(joined).rejects.toThrow('division by zero')
  ;(await lane.runOf(ref)).finish()
  expect(claims).toBe(2)
})
