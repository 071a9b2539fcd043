/** Workspaces with due work that cannot be woken. */
import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { actorStore, actorsOn, fakeLane } from '#test/support/actors/actors'
import { addWork, workOn } from '#test/support/actors/letters'
import { eventually } from '#test/support/eventually'
import { use } from '#test/support/use'

const store = use(actorStore)

test('as many as wake at once hold up no other with due work', async () => {
  const lane = fakeLane({ instant: true })
  const refId = newId()
  const good = await store.newTenant()
  {
    await using before = await actorsOn(store, { sweepMs: 0 })
    await before.runtime.ask(good, addWork(workOn(refId, { runAt: new Date() })))
  }
  const bad = await Promise.all(Array.from({ length: 20 }, () => store.newTenant()))
  await store.owner`update actor set wake_at = now() - interval '1 hour'
    where tenant_id = any(${bad}::uuid[])`
  await store.owner`create table poison as select unnest(${bad}::uuid[]) as tenant_id`
  await store.owner.unsafe(`create function poisoned() returns trigger language plpgsql security definer as $$ begin
    if new.owner is not null and exists (select 1 from public.poison p where p.tenant_id = new.tenant_id) then raise exception 'poisoned'; end if;
    return new; end $$`)
  await store.owner`create trigger poisoned before update on actor for each row execute function
    poisoned()`
  await using actors = await actorsOn(store, { lanes: [lane], sweepMs: 20 })
  expect(
    await eventually(
      async () => lane.started,
      (started) => started.length > 0,
    ),
  ).toEqual([refId])
  expect(actors.runtime.awake).toBe(1)
})
