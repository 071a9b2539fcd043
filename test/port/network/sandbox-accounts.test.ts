/**
 * Sandbox accounts that several workspaces shared under an earlier version, after the migration.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { openSandboxStore } from '#port/network/sandbox/rows'
import { migrate } from '#store/engine/migrate'
import { managedDb } from '#test/support/database/managed'
import { migrateOnly } from '#test/support/database/migrations'
import { use } from '#test/support/use'

const [first, second, third] = [newId(), newId(), newId()]

let sql: postgres.Sql
/** Account ids by their history. */
let account: Record<'shared' | 'left' | 'lone' | 'unused', string>
let item: string

/**
 * The rows of the version before; `left` was disconnected by the workspace that had connected it
 * first.
 */
const arrange = async (): Promise<void> => {
  for (const id of [first, second, third])
    await sql`insert into tenant (id, name, plan) values (${id}, 'Test', 'team')`
  const handles = ['shared', 'left', 'lone', 'unused'] as const
  const rows = await sql`insert into sandbox.accounts (handle) select
      unnest(${sql.array([...handles])}::text[]) returning id, handle`
  account = Object.fromEntries(rows.map((row) => [row.handle, row.id])) as typeof account
  const connect = async (
    tenant: string,
    handle: keyof typeof account,
    { day, status = 'connected' }: { day: number; status?: string },
  ) => {
    const id = newId()
    const is_default = status === 'connected'
    const at = new Date(Date.UTC(2026, 0, day))
    await sql`insert into connection
      ${sql({ id, tenant_id: tenant, network: 'sandbox', external_id: account[handle], handle, status, is_default, created_at: at, updated_at: at })}`
    return id
  }
  // Not in the order in which they were created.
  const connection = await connect(second, 'shared', { day: 3 })
  await connect(third, 'shared', { day: 4, status: 'disconnected' })
  await connect(first, 'shared', { day: 2 })
  await connect(first, 'left', { day: 5, status: 'disconnected' })
  await connect(third, 'left', { day: 6 })
  await connect(second, 'lone', { day: 7, status: 'disconnected' })
  await sql`insert into sandbox.posts (account_id, text)
    values (${account.shared}, 'By the second.'), (${account.shared}, 'By the first.')`
  item = newId()
  await sql`insert into item (id, tenant_id, kind, status, body, format, hook, rationale, stories,
    learnings, length, approved_hash, account_external_id,
      post_at, created_at, updated_at) values (${item}, ${second}, 'post', 'approved', 'Later.',
        'point', 'claim', '', '[]', '[]', 6, 'hash',
      ${account.shared}, now() + interval '1 day', now(), now())`
  await sql`insert into attempt (id, tenant_id, item_id, number, connection_id, body_sha,
    origin, state, intent_at, lease_until)
    values (${newId()}, ${second}, ${item}, 1, ${connection}, 'sha', 'manual', 'doubt', now(),
      now())`
}

afterAll(async () => {
  await sql.end()
})
const database = use(managedDb)
beforeAll(async () => {
  await migrateOnly(database.options, (name) => name < 'sql/000024')
  sql = postgres({ ...database.root, max: 1, onnotice: () => {} })
  await arrange()
  // As the owner of the tables, who is bound by row-level security.
  await migrate(database.options, createLog('silent'))
})

const workspaceOf = async (id: string) =>
  (await sql`select workspace_id from sandbox.accounts where id = ${id}`)[0]!.workspace_id

test('an account stays with the workspace that connected it first', async () => {
  expect(await workspaceOf(account.shared)).toBe(first)
  expect(await workspaceOf(account.left)).toBe(first)
  expect(await workspaceOf(account.lone)).toBe(second)
  expect(await workspaceOf(account.unused)).toBeNull()
})

test('other workspaces are disconnected from it, and their audit trail says so', async () => {
  const rows =
    await sql`select tenant_id, handle from connection where status = 'connected' or is_default`
  expect(rows.map((row) => [row.tenant_id, row.handle])).toEqual([[first, 'shared']])
  const audited = await sql`select tenant_id, operation, detail ->> 'handle' as handle,
      detail ->> 'reason' as reason,
    substr(id::text, 15, 1) as version, ref_id = (select id from connection c
      where c.tenant_id = a.tenant_id and c.handle = a.detail ->> 'handle') as refers
    from audit a order by handle`
  const what = {
    operation: 'app.connections.disconnect',
    reason: 'the account belongs to another workspace',
    version: '7',
    refers: true,
  }
  expect(audited.map((row) => ({ ...row }))).toEqual([
    { tenant_id: third, handle: 'left', ...what },
    { tenant_id: second, handle: 'shared', ...what },
  ])
})

test('posts stay with their account, approvals stay bound to it, and attempts in doubt to where they were sent', async () => {
  expect(
    await sql`select text from sandbox.posts where account_id = ${account.shared}`,
  ).toHaveLength(2)
  const [row] = await sql`select i.status, i.account_external_id, i.approved_hash,
      i.post_at is not null as scheduled, c.external_id, a.state
    from item i join attempt a on a.item_id = i.id join connection c on c.id = a.connection_id
      where i.id = ${item}`
  const { shared } = account
  expect({ ...row }).toEqual({
    status: 'approved',
    account_external_id: shared,
    approved_hash: 'hash',
    scheduled: true,
    external_id: shared,
    state: 'doubt',
  })
})

test('connecting the handle again returns the first workspace its account, and others one of their own', async () => {
  await using store = openSandboxStore(database.options)
  expect(await store.account(first, 'Shared')).toEqual({ id: account.shared, handle: 'shared' })
  expect(await store.account(first, 'left')).toEqual({ id: account.left, handle: 'left' })
  const own = await store.account(second, 'shared')
  expect(own.id).not.toBe(account.shared)
  expect(await store.account(second, 'SHARED')).toEqual(own)
  expect(await store.timeline({ accountId: own.id, since: new Date(0), lagMs: 0 })).toEqual([])
})

test('row-level security still binds the owner of the tables', async () => {
  const open = await sql`select relname from pg_class where relname in ('connection', 'audit')
      and relkind = 'r' and not (relrowsecurity and relforcerowsecurity)`
  expect(open).toHaveLength(0)
})
