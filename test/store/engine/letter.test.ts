/** The plan of the gate's statement. */
import { expect, test } from 'bun:test'
import { gateHook } from '#decisions/gate'
import { newId } from '#kernel/ids'
import { openDb } from '#store/engine/db'
import { gate } from '#store/engine/gate'
import { actorStore } from '#test/support/actors/actors'
import { use } from '#test/support/use'

const store = use(actorStore)
const db = use(() => openDb({ ...store.options, max: 1 }))

test('the gate finds its tenant by primary key even if statistics say that its owner has few', async () => {
  await store.owner`with t as (insert into tenant (id, name, plan)
    select gen_random_uuid(), 'Test', 'free' from generate_series(1, 1000) returning id)
    insert into actor (tenant_id) select id from t`
  await store.owner`analyze actor`
  const process = newId()
  await store.owner`update actor set owner = ${process}, epoch = 1`
  const [actor] = await store.owner<{ tenant_id: string }[]>`select tenant_id from actor limit 1`
  const tenantId = actor!.tenant_id
  const used = await db.letter(tenantId, async (sql) => {
    expect(
      await gate(sql, { tenantId, owner: process, epoch: 1 }, { hook: gateHook }),
    ).toBeDefined()
    return await sql<{
      name: string
    }>`select relname as name from pg_class where relname like 'actor\\_%' and relkind = 'i'
      and pg_stat_get_xact_numscans(oid) > 0`
  })
  expect(used.map(({ name }) => name)).toEqual(['actor_pkey'])
})
