/**
 * What a process does for one workspace after the other: those for which it fails hold up no
 * others.
 */
import { beforeAll, expect, test } from 'bun:test'
import { startErasure } from '#actors/work/app/erasure'
import { startRemoval } from '#actors/work/app/removal'
import { startSweep } from '#actors/work/app/sweep'
import { systemClock } from '#kernel/clock'
import { noFailpoints } from '#kernel/failpoint'
import { newId } from '#kernel/ids'
import { createLog, type Log } from '#kernel/log'
import { createWorkspace } from '#ops/operator/admin/workspaces'
import { restErasure, tenantsToErase } from '#store/app/erasure'
import { openDb } from '#store/engine/db'
import { eventually } from '#test/support/eventually'
import { useApp } from '#test/support/use'

const NEVER_MS = 86_400_000
/** It changes triggers and a function of its database. */
const app = useApp({
  newDatabase: true,
  overrides: {
    sweepMs: 0,
    sweep: { everyMs: NEVER_MS },
    erasure: { everyMs: NEVER_MS, rows: 100 },
  },
})
const db = () => app.workplace.db

/** Workspaces named in `poison` can neither be erased nor swept. */
beforeAll(async () => {
  await app.owner`create table poison (tenant_id uuid primary key)`
  await app.owner.unsafe(`create function poisoned() returns trigger language plpgsql security definer as $$ begin
    if exists (select 1 from public.poison p where p.tenant_id = old.tenant_id) then raise exception 'poisoned'; end if;
    return old; end $$`)
  await app.owner`create trigger poisoned before delete on actor for each row execute function
    poisoned()`
  await app.owner`create trigger poisoned before delete on idempotency for each row execute function
    poisoned()`
})

const workspaces = (count: number) =>
  Promise.all(Array.from({ length: count }, () => createWorkspace(db(), 'Test')))
const poison = (tenants: string[]) =>
  app.owner`insert into poison select unnest(${tenants}::uuid[])`
const due = (tenants: string[], seconds: number) =>
  app.owner`update tenant set deletes_at = now() - ${seconds} * interval '1 second'
    where id = any(${tenants}::uuid[])`
const left = async (tenants: string[]) =>
  (await app.owner`select 1 from tenant where id = any(${tenants}::uuid[])`).length
const secondsOf = async (tenantId: string) =>
  (
    await app.owner`select extract(epoch from erasure_rests_until - now())::float8 as s,
      erasure_failures as failures, erasure_error as error
    from tenant where id = ${tenantId}`
  )[0]!

const errorsIn = () => {
  const errors: Record<string, unknown>[] = []
  const log = {
    ...createLog('silent'),
    info: () => {},
    warn: () => {},
    error: (fields: Record<string, unknown>) => void errors.push(fields),
  }
  return { errors, log: log as unknown as Log }
}

test('ten workspaces that cannot be erased rest for an hour, in the sight of operators, and the others are erased', async () => {
  const [bad, good] = [await workspaces(10), await workspaces(3)]
  await poison(bad)
  await Promise.all([due(bad, 100), due(good, 1)])
  const { errors, log } = errorsIn()
  await using _erasure = startErasure({
    db: db(),
    clock: systemClock,
    log,
    failpoints: noFailpoints,
    everyMs: 5,
    rows: 100,
  })
  expect(
    await eventually(
      () => left(good),
      (n) => n === 0,
    ),
  ).toBe(0)
  expect(await left(bad)).toBe(10)
  expect(errors.map(({ workspace }) => workspace).sort()).toEqual(bad.sort())
  const { s, failures, error } = await secondsOf(bad[0]!)
  expect([failures, Math.abs(s - 3_600) < 60]).toEqual([1, true])
  expect(error).toContain('poisoned')
  await app.owner`delete from poison`
  await app.owner`update tenant set erasure_rests_until = now() where id = any(${bad}::uuid[])`
  expect(
    await eventually(
      () => left(bad),
      (n) => n === 0,
    ),
  ).toBe(0)
})

test('an erasure that the database could not do is not counted, and rests briefly', async () => {
  const [tenantId] = await workspaces(1)
  await due([tenantId!], 1)
  await restErasure(db(), tenantId!, { ms: 60_000, counted: false, error: 'away' })
  expect((await secondsOf(tenantId!)).failures).toBe(0)
  expect(await tenantsToErase(db(), 100)).not.toContain(tenantId!)
  // While it is gone altogether, nothing is written about any workspace.
  await app.owner`update tenant set erasure_rests_until = null where id = ${tenantId!}`
  const { errors, log } = errorsIn()
  const away = openDb({ ...app.options, port: 1, host: '127.0.0.1' })
  await startErasure({
    db: away,
    clock: systemClock,
    log,
    failpoints: noFailpoints,
    everyMs: NEVER_MS,
    rows: 100,
  })[Symbol.asyncDispose]()
  await away[Symbol.asyncDispose]()
  expect([errors, (await secondsOf(tenantId!)).s]).toEqual([[], null])
})

test('workspaces whose expired rows cannot be removed rest for an hour, and the others are swept', async () => {
  const [bad, good] = [await workspaces(25), await workspaces(2)]
  await app.owner`update actor set sweep_at = null`
  await poison(bad)
  for (const [tenants, ago] of [
    [bad, 100],
    [good, 1],
  ] as const) {
    await app.owner`update actor set sweep_at = now() - ${ago} * interval '1 second'
      where tenant_id = any(${tenants}::uuid[])`
    await app.owner`insert into idempotency (tenant_id, key, operation, fingerprint, state, status,
      body, counted, expires_at)
      select id, ${newId()}, 'test', 'none', 'done', 200, '{}', 300, now() - interval '1 hour'
        from unnest(${tenants}::uuid[]) id`
  }
  const { errors, log } = errorsIn()
  const timing = { everyMs: 5, rows: 100, tenants: 20, keepDays: 400, agentKeepDays: 90 }
  const answers = async (tenants: string[]) =>
    (await app.owner`select 1 from idempotency where tenant_id = any(${tenants}::uuid[])`).length
  await using _sweep = startSweep({ db: db(), clock: systemClock, log, ...timing })
  await eventually(
    async () => [await answers(good), errors.length],
    ([rows, said]) => rows === 0 && said === 25,
  )
  expect([await answers(bad), await answers(good)]).toEqual([25, 0])
  const [row] =
    await app.owner`select min(extract(epoch from sweep_at - now()))::float8 as s from actor
      where tenant_id = any(${bad}::uuid[])`
  expect(Math.abs(row!.s - 3_600)).toBeLessThan(60)
})

test('a workspace of which nobody can tell whether it needs a sweep rests too, and the others are swept', async () => {
  const [bad, good] = [await workspaces(1), await workspaces(2)]
  await app.owner`update actor set sweep_at = null`
  await app.owner`delete from poison`
  await poison(bad)
  await app.owner.unsafe(`alter function has_long_deleted rename to had_long_deleted;
    create function has_long_deleted(swept uuid) returns boolean language plpgsql security definer as $$ begin
    if exists (select from public.poison where tenant_id = swept) then raise exception 'poisoned'; end if;
    return public.had_long_deleted(swept); end $$;
    grant execute on function has_long_deleted(uuid) to tendril_system`)
  await app.owner`update actor set sweep_at = now() where tenant_id = any(${[...bad, ...good]})`
  await app.owner`insert into idempotency (tenant_id, key, operation, fingerprint, state, status,
    body, counted, expires_at)
    select id, 'over', 'test', 'none', 'done', 200, '{}', 300, now() - interval '1 hour'
      from unnest(${good}::uuid[]) id`
  const { errors, log } = errorsIn()
  const timing = { everyMs: NEVER_MS, rows: 100, tenants: 20, keepDays: 400, agentKeepDays: 90 }
  await using _sweep = startSweep({ db: db(), clock: systemClock, log, ...timing })
  await eventually(
    () => app.owner`select 1 from idempotency where tenant_id = any(${good}::uuid[])`,
    (left) => left.length === 0 && errors.length === 1,
  )
  expect(errors).toMatchObject(bad.map((workspace) => ({ workspace })))
  const rest = await eventually(
    async () =>
      (
        await app.owner`select extract(epoch from sweep_at - now())::float8 as s from actor
          where tenant_id = ${bad[0]!}`
      )[0]!.s,
    (s) => Math.abs(s - 3_600) < 60,
  )
  expect(Math.abs(rest - 3_600)).toBeLessThan(60)
  await app.owner.unsafe(`drop function has_long_deleted;
    alter function had_long_deleted rename to has_long_deleted`)
})

test('objects that the storage does not remove hold up no others', async () => {
  await app.owner`insert into file_removal (key, unfinished, due_at, tries)
    select 'bad/' || n, false, now() - interval '1 hour', 6 from generate_series(1, 300) n`
  await app.owner`insert into file_removal (key, unfinished, due_at)
    select 'good/' || n, false, now() - interval '1 second' from generate_series(1, 9) n`
  const { errors, log } = errorsIn()
  const remove = async (key: string) => {
    if (key.startsWith('bad')) throw new Error('refused')
  }
  const removal = startRemoval({ db: db(), clock: systemClock, log, everyMs: NEVER_MS, remove })
  // One pass.
  await removal[Symbol.asyncDispose]()
  await using _other = startRemoval({
    db: db(),
    clock: systemClock,
    log,
    everyMs: NEVER_MS,
    remove,
  })
  expect(
    await eventually(
      async () => (await app.owner`select 1 from file_removal where key like 'good/%'`).length,
      (n) => n === 0,
    ),
  ).toBe(0)
  expect((await app.owner`select 1 from file_removal where key like 'bad/%'`).length).toBe(300)
  expect(
    await eventually(
      async () => errors.length,
      (n) => n > 0,
    ),
  ).toBeGreaterThan(0)
})
