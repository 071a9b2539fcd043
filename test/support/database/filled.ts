/** A filled database as data, so that later versions show that they migrate it. */
import type postgres from 'postgres'
import { usualScopes } from '#ops/operator/admin/workspaces'
import { eventually, type TestApp } from '../app.ts'
import { inMs, newStory } from '../growth/story.ts'
import { writeRows } from './rows.ts'

export interface Filled {
  /** The last migration of its version. */
  migration: string
  /** The workspace with the post that is approved and due. */
  tenantId: string
  item: string
  text: string
  dueAt: string
  /** By table, each row as JSON. */
  rows: Record<string, Record<string, unknown>[]>
}

const HOUR_MS = 3_600_000

/**
 * Fills the database of an app: a workspace that was used, with a post that is approved and due in
 * an hour, and one with a row in each table.
 */
export async function fill(app: TestApp): Promise<Omit<Filled, 'migration' | 'rows'>> {
  const story = await newStory(app)
  const { api_key: key } = await app.newKey([...usualScopes, 'workspace:use'], story.tenantId)
  const send = async (method: string, path: string, body?: unknown) => {
    const reply = await story.send(method, path, { key, ...(body === undefined ? {} : { body }) })
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
    return reply.body
  }
  await send('PUT', 'profile', {
    goal: 'Book demos with operations leads',
    audience: 'operations leads at logistics firms',
    writing_dna: {
      stories: ['I drove a van for a week. Eleven of fourteen delays started at the dock.'],
      proof: ['Cut late deliveries by 31% at Nordfracht'],
    },
  })
  const { batch } = await send('POST', 'batches', { count: 2, focus: 'late deliveries' })
  await eventually(
    () => send('GET', `batches/${batch.id}`),
    (body) => body.batch.status === 'ready',
  )
  await story.drafted()
  await send('POST', `items/${await story.drafted()}/reject`, { reason: 'too dry' })
  await send('POST', 'products', { name: 'Dock', one_liner: 'Schedules docks' })
  await send('POST', 'learnings', { kind: 'worked', note: 'Short posts work.' })
  await send('POST', 'rules', {
    name: 'Mondays',
    trigger: { kind: 'cron', pattern: '0 9 * * 1', time_zone: 'UTC' },
    action: { kind: 'draft_batch', count: 1, focus: 'docks' },
  })
  await send('POST', '/api/v1/documents', {
    fileName: 'dock.md',
    mimeType: 'text/markdown',
    content: '# Docks\n\nEleven of fourteen delays started at the dock.',
  })
  const { conversation } = await send('POST', '/api/v1/agent/conversations', { title: 'First' })
  const messages = `/api/v1/agent/conversations/${conversation.id}/messages`
  await send('POST', messages, { content: "/remember --text 'We call trucks vans.'" })
  await eventually(
    () => send('GET', messages),
    (body) => body.messages.some(({ role }: { role: string }) => role === 'assistant'),
  )
  await story.settled(await story.scheduled(0), 'posted')
  const text = 'Approved before the upgrade, posted after it.'
  const [item, dueAt] = [await story.approved(text), inMs(HOUR_MS)]
  await send('POST', `items/${item}/schedule`, { post_at: dueAt })
  const { tenantId } = await app.newWorkspace()
  await app.owner`delete from connection where tenant_id = ${tenantId}`
  await writeRows(app.owner, tenantId)
  return { tenantId: story.tenantId, item, text, dueAt }
}

/** Without what belongs to running processes. */
const tablesOf = async (owner: postgres.Sql): Promise<string[]> => {
  const tables = await owner<{ name: string }[]>`
    select format('%I.%I', nspname, relname) as name from pg_class c
      join pg_namespace n on n.oid = relnamespace
    where relkind = 'r' and nspname in ('public', 'sandbox')
      and relname not in ('migration', 'node') order by 1`
  return tables.map(({ name }) => name)
}

export async function dumpRows(owner: postgres.Sql): Promise<Filled['rows']> {
  const rows: Filled['rows'] = {}
  for (const table of await tablesOf(owner)) {
    const found = await owner.unsafe(`select to_jsonb(t) as row from ${table} t order by t::text`)
    rows[table] = found.map(({ row }) => row)
  }
  return rows
}

/**
 * Writes the rows into the schema that they were kept with, past triggers and foreign keys. All
 * times move by as much as makes the post due now. The owner must be a superuser.
 */
export async function loadRows(owner: postgres.Sql, { rows, dueAt }: Filled): Promise<void> {
  const ms = Date.now() - Date.parse(dueAt)
  await owner.begin(async (sql) => {
    await sql`set local session_replication_role = replica`
    for (const [table, values] of Object.entries(rows)) {
      const columns = await sql<{ name: string; moved: string }[]>`
        select quote_ident(attname) as name, quote_ident(attname) || case
          when atttypid = 'timestamptz'::regtype then ${` + ${ms} * interval '1 ms'`} else '' end
          as moved
        from pg_attribute where attrelid = ${table}::regclass and attnum > 0
          and not attisdropped and attgenerated = ''`
      await sql.unsafe(
        `insert into ${table} (${columns.map(({ name }) => name)})
          select ${columns.map(({ moved }) => moved)}
          from jsonb_populate_recordset(null::${table}, $1::text::jsonb)`,
        [JSON.stringify(values)],
      )
    }
    await sql`select setval(pg_get_serial_sequence('agent_event', 'conversation_seq'),
      (select max(conversation_seq) from agent_event))`
  })
}

/** How many rows each table has. */
export const countRows = async (owner: postgres.Sql): Promise<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(await dumpRows(owner)).map(([table, rows]) => [table, rows.length]),
  )
