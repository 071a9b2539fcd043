/** The end of a deleted workspace: everything that refers to it is erased, and nothing else. */
import { beforeAll, describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import { newId, randomBase62 } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { scopes } from '#kernel/scopes'
import { eraseSome, tenantsToErase } from '#store/app/erasure'
import { openDb } from '#store/engine/db'
import { migrate } from '#store/engine/migrate'
import { eventually } from '#test/support/app'
import { emptyDb } from '#test/support/database/db'
import { markOf, writeRows } from '#test/support/database/rows'
import { rowsOfTenant, tenantTables } from '#test/support/database/tenant-rows'
import { insertKeys, insertMember } from '#test/support/database/writes'
import { newStory } from '#test/support/growth/story'
import { acceptInvitation, inviteTo } from '#test/support/people'
import { newDeployment, startServer } from '#test/support/processes/server'
import { newPerson, tokenOf } from '#test/support/session'
import { useApp } from '#test/support/use'

const ROWS = 3

let tables: Awaited<ReturnType<typeof tenantTables>>
const app = useApp(() => ({ overrides: { erasure: { everyMs: 3_600_000, rows: ROWS } } }))
beforeAll(async () => {
  tables = await tenantTables(app.owner)
})

const rowsOf = (tenantId: string) => rowsOfTenant(app.owner, tenantId)

/** A workspace with a row in every table. */
const workspaceWithRows = async () => {
  const { tenantId, key } = await app.newWorkspace()
  await app.owner`update connection set is_default = false where tenant_id = ${tenantId}`
  const rows = await writeRows(app.owner, tenantId)
  await app.owner`insert into device_grant (id, device_code_hash, user_code_hash, client_id,
    device_name, address, scopes, poll_every, expires_at,
      decision, decided_at, decided_by, decided_in)
    values (${newId()}, ${Buffer.from(newId())}, ${Buffer.from(newId())}, 'test', 'test', 'test',
      '{}', 5, now() + interval '1 hour',
      'approve', now(), ${rows.member.person_id}, ${tenantId})`
  return { tenantId, key, rows }
}

const makeDue = (tenantId: string) =>
  app.owner`update tenant set deletes_at = now() - interval '1 second' where id = ${tenantId}`
const eraseAll = async (tenantId: string): Promise<number> => {
  for (let calls = 1; ; calls++)
    if (!(await eraseSome(app.workplace.db, tenantId, ROWS))) return calls
}
const people = async (ids: string[]) =>
  (await app.owner`select id from person where id = any(${ids})`).map(({ id }) => id)

describe('erasing', () => {
  test('leaves no row of the workspace in any table, and every row of another', async () => {
    const [doomed, other] = [await workspaceWithRows(), await workspaceWithRows()]
    await app.owner`insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation)
      select gen_random_uuid(), ${doomed.tenantId}, now(), 'system', 'test', 'test', 'test'
        from generate_series(1, ${10 * ROWS})`
    const [before, others] = [await rowsOf(doomed.tenantId), await rowsOf(other.tenantId)]
    for (const [place, count] of Object.entries(before))
      expect([place, count]).not.toEqual([place, 0])
    await makeDue(doomed.tenantId)
    expect(await tenantsToErase(app.workplace.db, 100)).toContain(doomed.tenantId)
    expect(await eraseAll(doomed.tenantId)).toBeGreaterThan(10)
    expect(await rowsOf(doomed.tenantId)).toEqual(
      Object.fromEntries(Object.keys(before).map((place) => [place, 0])),
    )
    expect(await rowsOf(other.tenantId)).toEqual(others)
    const dump =
      await app.owner`select query_to_xml('select * from ' || c.oid::regclass, false, false,
        '')::text as text
      from pg_class c where c.relkind = 'r' and c.relnamespace in ('public'::regnamespace,
        'sandbox'::regnamespace)`
    for (const { text } of dump)
      for (const trace of [doomed.tenantId, markOf(doomed.tenantId)])
        expect(text).not.toContain(trace)
  })

  test('touches only workspaces whose deletion is due', async () => {
    const { tenantId } = await workspaceWithRows()
    const before = await rowsOf(tenantId)
    expect(await eraseSome(app.workplace.db, tenantId, ROWS)).toBe(false)
    await app.owner`update tenant set deletes_at = now() + interval '1 minute'
      where id = ${tenantId}`
    expect(await eraseSome(app.workplace.db, tenantId, ROWS)).toBe(false)
    expect(await tenantsToErase(app.workplace.db, 100)).not.toContain(tenantId)
    expect(await rowsOf(tenantId)).toEqual(before)
  })

  test('happens once when several processes do it together', async () => {
    const { tenantId } = await workspaceWithRows()
    await makeDue(tenantId)
    await Promise.all(
      [1, 2, 3].map(() =>
        eventually(
          async () =>
            (await eraseSome(app.workplace.db, tenantId, ROWS)) ||
            (await rowsOf(tenantId))['tenant.id'] !== 0,
          (more) => !more,
        ),
      ),
    )
    expect(Object.values(await rowsOf(tenantId)).every((count) => count === 0)).toBe(true)
  })

  test('no statement of a workspace or of the system can erase by other means', async () => {
    const { tenantId } = await app.newWorkspace()
    const codes = await Promise.all(
      [
        app.workplace.db.read({ tenantId }, (sql) => sql`select erase_tenant(${tenantId}, 1)`),
        app.workplace.db.read({ tenantId }, (sql) => sql`select erase_person(${newId()})`),
        app.workplace.db.system((sql) => sql`delete from audit`),
      ].map((running) => running.then(String, ({ code }) => code)),
    )
    expect(codes).toEqual(['42501', '42501', '42501'])
  })
})

describe('people', () => {
  test('who are members nowhere else are erased with the workspace, along with every reference to them; others stay', async () => {
    const { tenantId } = await app.newWorkspace()
    const { tenantId: other } = await app.newWorkspace()
    const [leaving, staying] = [
      await newPerson(app.owner, tenantId),
      await newPerson(app.owner, tenantId),
    ].map((one) => one.member.personId)
    await insertMember(app, other, { personId: staying!, role: 'viewer' })
    // What a former member leaves behind in another workspace.
    const invitation = newId()
    const [keyId] = await insertKeys(app, other, 1, { person_id: leaving! })
    await app.owner`insert into invitation (id, tenant_id, role, token_hash, invited_by,
      accepted_by, email, expires_at)
      values (${invitation}, ${other}, 'viewer', ${Buffer.from(invitation)}, ${leaving!},
        ${leaving!}, 'left@example.com', now())`
    await makeDue(tenantId)
    await eraseAll(tenantId)
    expect(await people([leaving!, staying!])).toEqual([staying!])
    expect(
      await app.owner`select person_id, revoked_at is null as alive from api_key
        where id = ${keyId!}`,
    ).toEqual([{ person_id: null, alive: false }] as never)
    expect(
      await app.owner`select invited_by, accepted_by, email from invitation
        where id = ${invitation}`,
    ).toEqual([{ invited_by: null, accepted_by: null, email: null }] as never)
  })

  test('are referenced only by tables that erasing a person covers', async () => {
    const found =
      await app.owner`select f.conrelid::regclass || '.' || a.attname as name from pg_constraint f
      join pg_attribute a on a.attrelid = f.conrelid and a.attnum = any(f.conkey)
      where f.contype = 'f' and f.confrelid = 'person'::regclass and f.confdeltype = 'a' order by 1`
    expect(found.map(({ name }) => name)).toEqual([
      ...[
        'api_key.person_id',
        'invitation.accepted_by',
        'invitation.invited_by',
        'member.person_id',
        'session.person_id',
      ],
    ])
  })
})

test('the sandbox accounts of a workspace and their posts are erased too, except an account that another workspace still uses', async () => {
  const [story, shared, other] = [
    await newStory(app),
    await newStory(app),
    await app.newWorkspace(),
  ]
  for (const { account } of [story, shared])
    await app.owner`insert into sandbox.posts (account_id, text) select ${account}, 'Post ' || n
      from generate_series(1, ${3 * ROWS}) n`
  await app.owner`update connection set external_id = ${shared.account}
    where tenant_id = ${other.tenantId}`
  for (const { tenantId } of [story, other]) {
    await makeDue(tenantId)
    await eraseAll(tenantId)
  }
  const left = await app.owner`select account_id, count(*)::int as posts from sandbox.posts
      where account_id in (${story.account}, ${shared.account}) group by 1`
  expect(left).toEqual([{ account_id: shared.account, posts: 3 * ROWS }] as never)
  expect(
    await app.owner`select id from sandbox.accounts where id in (${story.account},
      ${shared.account})`,
  ).toHaveLength(1)
})

test('keys and sessions of an erased workspace are unknown, also to a process that has just accepted them', async () => {
  const { tenantId } = await app.newWorkspace()
  const { api_key: key } = await app.newKey([...scopes], tenantId)
  const session = await tokenOf(app, tenantId)
  const put = (credential: string) =>
    app.send('PUT', 'profile', { key: credential, body: { goal: 'On' } })
  for (const credential of [key, session]) expect((await put(credential)).status).toBe(200)
  const token = await inviteTo(app, { tenantId })
  await makeDue(tenantId)
  // After the first call the workspace still exists, but admits nobody.
  expect(await eraseSome(app.workplace.db, tenantId, 1)).toBe(true)
  for (const credential of [key, session]) {
    expect((await put(credential)).status).toBe(401)
    expect((await app.send('GET', 'overview', { key: credential })).status).toBe(401)
  }
  expect((await acceptInvitation(app, { token, email: 'late@example.com' })).status).toBe(404)
  await eraseAll(tenantId)
  for (const credential of [key, session]) expect((await put(credential)).status).toBe(401)
})

test('erasure works where policies bind the owner of the tables, as on a managed database', async () => {
  await using empty = await emptyDb()
  const name = `tendril_plain_${randomBase62(8).toLowerCase()}`
  const root = postgres({ ...empty.options, max: 1, onnotice: () => {} })
  try {
    await root.unsafe(`create role ${name} login createrole password 'plain'`)
    await root.unsafe(
      `grant tendril_app, tendril_system, tendril_sandbox to ${name} with admin option`,
    )
    await root.unsafe(`grant create on database ${empty.options.database} to ${name}`)
    await root.unsafe(`alter schema public owner to ${name}`)
    const plain = { ...empty.options, username: name, password: 'plain' }
    await migrate(plain, createLog('silent'))
    await using db = openDb({ ...plain, max: 1 })
    const tenantId = newId()
    await root`insert into tenant (id, name, plan, deletes_at) values (${tenantId}, 'Old', 'team', now())`
    await root`insert into actor (tenant_id) values (${tenantId})`
    const { member } = await writeRows(root, tenantId)
    while (await eraseSome(db, tenantId, ROWS));
    for (const { name: table, column } of tables)
      expect([
        table,
        (await root`select 1 from ${root(table)} where ${root(column)} = ${tenantId}`).length,
      ]).toEqual([table, 0])
    expect(await root`select 1 from person where id = ${member.person_id}`).toHaveLength(0)
  } finally {
    await root.unsafe(`drop owned by ${name} cascade`)
    await root.unsafe(`drop role ${name}`)
    await root.end()
  }
})

test('a server erases what is due at its start; if it is killed midway, the next one finishes', async () => {
  await using world = await newDeployment()
  const { owner, server } = world
  await (await startServer(server))[Symbol.asyncDispose]()
  const [remaining] = await owner`select id from tenant`
  const tenantId = newId()
  await owner`insert into tenant (id, name, plan, deletes_at)
    values (${tenantId}, 'Old', 'team', now())`
  await owner`insert into actor (tenant_id) values (${tenantId})`
  await owner`insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation)
    select gen_random_uuid(), ${tenantId}, now(), 'system', 'test', 'test', 'test'
      from generate_series(1, 2500)`
  const left = async () =>
    (await owner`select count(*)::int as count from audit where tenant_id = ${tenantId}`)[0]!.count
  const dying = startServer({ ...server, dieAt: 'erasure.erasing' }).catch(() => undefined)
  await (await dying)?.exited
  expect(await left()).toBe(1500)
  await using _next = await startServer(server)
  await eventually(
    () => owner`select id from tenant`,
    (rows) => rows.length === 1,
  )
  expect([await left(), (await owner`select id from tenant`).map(({ id }) => id)]).toEqual([
    0,
    [remaining!.id],
  ])
})
