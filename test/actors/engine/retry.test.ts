/** A retry under an Idempotency-Key whose first request is still in process. */
import { expect, test } from 'bun:test'
import type { Letter } from '#actors/engine/letter'
import { newId } from '#kernel/ids'
import { type Db, openDb } from '#store/engine/db'
import { actorStore, actorsOn, fakeLane } from '#test/support/actors/actors'
import { letterOf, newGate, workOn } from '#test/support/actors/letters'
import { use } from '#test/support/use'

const store = use(actorStore)

const postNow = (refId: string): Letter<unknown> => {
  const claim = { key: 'now', operation: 'test', fingerprint: 'f' }
  const begun = letterOf<unknown>((_, { seen }) =>
    seen
      ? { reply: 'as it stands' }
      : {
          reply: '',
          effects: { work: [workOn(refId)] },
          keep: { claim, pending: refId },
          awaits: refId,
        },
  )
  return { ...begun, claim }
}

test('is in flight from the commit on, before this process has noted who waits for the outcome', async () => {
  await using real = openDb({ ...store.options, max: 4 })
  const committed = newGate()
  const heard = newGate()
  const letter: Db['letter'] = async (...args) => {
    const result = await real.letter(...args)
    committed.open()
    await heard.opened
    return result
  }
  const db: Db = Object.assign(Object.create(real), { letter })
  const lane = fakeLane()
  await using actors = await actorsOn(store, { db, lanes: [lane] })
  const tenant = await store.newTenant()
  const refId = newId()
  const first = actors.runtime.ask(tenant, postNow(refId))
  await committed.opened
  const retry = actors.runtime.ask(tenant, postNow(refId)).catch((cause) => cause.code)
  await real.read({ tenantId: tenant }, (sql) => sql`select pg_sleep(0.2)`)
  heard.open()
  expect(await retry).toBe('idempotency_in_flight')
  ;(await lane.runOf(refId)).finish()
  expect(await first).toEqual({ status: 200, body: 'done' })
})
