/**
 * A workspace is swept where `needs_sweep` says so, and only there. It must say so of whatever the
 * sweeps remove, and of little else.
 */
import { beforeAll, expect, test } from 'bun:test'
import type postgres from 'postgres'
import { createWorkspace } from '#ops/operator/admin/workspaces'
import { sweepSome } from '#store/app/sweep'
import { writeRows } from '#test/support/database/rows'
import { useApp } from '#test/support/use'

const KEEP = { keepDays: 400, agentKeepDays: 90, rows: 1_000 }
const app = useApp({ overrides: { sweep: { everyMs: 86_400_000 } } })
const db = () => app.workplace.db

/** A workspace with a row in each table, none of which has expired. */
let tenantId: string
beforeAll(async () => {
  tenantId = await createWorkspace(db(), 'Full')
  await writeRows(app.owner, tenantId)
  while (await sweepSome(db(), tenantId, KEEP));
})

const ROWS = 1_000
const PAST = "now() - interval '3 years'"

class TakenBack extends Error {}

/** How many rows of each table this connection has deleted of late, whatever became of that. */
const deleted = async (sql: postgres.TransactionSql): Promise<Map<string, number>> => {
  const rows = await sql<{ name: string; rows: number }[]>`select relname as name,
    n_tup_del::int as rows from pg_stat_xact_user_tables where n_tup_del > 0`
  return new Map(rows.map(({ name, rows: many }) => [name, many]))
}

/** Undefined if the change breaks a constraint. All is taken back. */
const after = async (
  change: string,
): Promise<{ needs: boolean; removed: string[] } | undefined> => {
  const found: { needs: boolean; removed: string[] }[] = []
  await app.owner
    .begin(async (sql) => {
      await sql.unsafe(change.replaceAll('$t', `'${tenantId}'`))
      const [row] = await sql<{ needs: boolean }[]>`select needs_sweep(${tenantId},
        interval '400 days', interval '90 days', ${ROWS}) as needs`
      const before = await deleted(sql)
      await sql`select sweep_inbound(${tenantId}, now() - interval '90 days', ${ROWS}),
        sweep_tenant(${tenantId}, now() - interval '400 days', ${ROWS}),
        sweep_agent(${tenantId}, now() - interval '90 days', ${ROWS}),
        sweep_channels(${tenantId}, now() - interval '90 days', ${ROWS}),
        sweep_artifacts(${tenantId}, ${ROWS}), sweep_files(${tenantId}, ${ROWS}),
        sweep_prints(${tenantId}, ${ROWS}), sweep_words(${tenantId}, ${ROWS}),
        sweep_deleted(${tenantId}, ${ROWS}), sweep_conversations(${tenantId}, ${ROWS})`
      const since = await deleted(sql)
      const removed = [...since].filter(([table, rows]) => rows > (before.get(table) ?? 0))
      found.push({ needs: row!.needs, removed: removed.map(([table]) => table) })
      throw new TakenBack()
    })
    .catch((cause) => {
      if (cause instanceof TakenBack || String(cause.code).startsWith('23')) return
      throw cause
    })
  return found[0]
}

const tables = async (): Promise<string[]> =>
  (
    await app.owner`select tenant_tables() as name union select 'api_key' union select 'invitation'
    order by 1`
  ).map(({ name }) => name)

const columnsOfTime = async (): Promise<{ table: string; column: string }[]> =>
  await app.owner`select table_name as table, column_name as column from information_schema.columns
    where table_schema = 'public' and table_name = any(${await tables()})
      and data_type = 'timestamp with time zone' and is_generated = 'NEVER' order by 1, 2`

/** Those that `after` calls. */
const SWEEPS =
  'agent artifacts channels conversations deleted files inbound prints tenant words'.split(' ')

test('no sweep is missing here', async () => {
  const found = await app.owner`select substring(proname from 7) as name from pg_proc
    where proname like 'sweep\\_%' and prorettype = 'boolean'::regtype and proname <> 'sweep_rows'
    order by 1`
  expect(found.map(({ name }) => name)).toEqual(SWEEPS)
})

test('nothing that is not over needs a sweep', async () => {
  expect(await after('select 1')).toEqual({ needs: false, removed: [] })
})

test('whatever time of a row lies long ago, it says what the sweeps then do', async () => {
  const seen = new Set<string>()
  for (const { table, column } of await columnsOfTime()) {
    const found = await after(`update ${table} set ${column} = ${PAST} where tenant_id = $t`)
    if (!found) continue
    expect([table, column, found.needs]).toEqual([table, column, found.removed.length > 0])
    for (const one of found.removed) seen.add(one)
  }
  // So that the above says something.
  expect([...seen].sort()).toEqual(
    expect.arrayContaining([
      ...['agent_conversation', 'agent_event', 'agent_job', 'agent_message', 'agent_step'],
      ...['api_key', 'artifact', 'artifact_share', 'audit', 'channel_message', 'channel_reply'],
      ...['file', 'idempotency', 'inbound_event', 'inbound_route', 'invitation', 'outbox'],
    ]),
  )
})

/** Adds a row that is like one of the table but for these columns. */
const another = (table: string, changes: string): string =>
  `insert into ${table} select (jsonb_populate_record(r, jsonb_build_object(${changes}))).*
    from ${table} r`

/** How rows are over that none of their times ends alone. */
const ENDS: [removed: string, change: string][] = [
  ['learning', `update learning set status = 'retired', updated_at = ${PAST}`],
  ['experiment', `update experiment set status = 'concluded', concluded_at = ${PAST}`],
  [
    'agent_conversation',
    another(
      'agent_conversation',
      `'id', gen_random_uuid(), 'origin', 'webhook', 'last_at', ${PAST}`,
    ),
  ],
  ['agent_step', `update agent_job set status = 'completed', ended_at = ${PAST}`],
  ['agent_event', `update agent_job set status = 'completed', kind = 'turn', ended_at = ${PAST}`],
  ['channel_reply', `update channel_reply set status = 'sent', created_at = ${PAST}`],
  ['artifact', `update artifact set deleted_at = now() - interval '8 days'`],
  [
    'artifact',
    `insert into counter (tenant_id, key, period, used) values ($t, 'files', '', 786433)
      on conflict (tenant_id, key) do update set used = excluded.used;
    update artifact set deleted_at = now() - interval '1 second'`,
  ],
  [
    'file',
    another(
      'file',
      `'id', gen_random_uuid(), 'store', 's3', 'sha256', null, 'digests', null,
        'kept_at', null, 'noted_at', now() - interval '25 hours'`,
    ),
  ],
  ['item_word_move', 'insert into item_word_move select tenant_id, id from item'],
  [
    'item_print',
    `insert into item_print (tenant_id, print, item_id, until)
    select tenant_id, 2, id, now() - interval '1 second' from item`,
  ],
  ['item', `update item set status = 'deleted', deleted_status = 'drafted', deleted_at = ${PAST}`],
]

test.each(ENDS)('a row of %s that is over needs one', async (removed, change) => {
  const found = await after(`${change} where tenant_id = $t`)
  expect(found?.needs).toBe(true)
  expect(found?.removed).toContain(removed)
})
