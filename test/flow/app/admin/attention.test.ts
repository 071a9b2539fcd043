/** `tendril admin attention`, beside a server and without one. */
import { beforeAll, beforeEach, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { freshDb, TEST_SECRET } from '#test/support/database/db'
import { markOf, type Rows, writeRows } from '#test/support/database/rows'
import { runAdmin } from '#test/support/processes/server'
import { use, useApp } from '#test/support/use'

const db = use(freshDb)
const app = useApp(() => ({ database: db.options }))

const admin = (...args: string[]) =>
  runAdmin(
    { key: app.key, database: db.options, secret: TEST_SECRET.toString('base64') },
    'attention',
    ...args,
  )

interface Entry {
  id: string
  workspace_id: string
  kind: string
  record: string
  since: string
}
const entries = async (...args: string[]): Promise<Entry[]> => (await admin(...args)).json.entries
const named = (all: Entry[]): string[] => all.map(({ kind, record }) => `${kind} ${record}`)

let rows: Rows
let [stuck, quiet] = ['', '']

/** The states that wait for somebody, each an hour younger than the one before. */
const states: [table: string, set: string][] = [
  [
    'attempt',
    `state = 'review', ended_at = null, intent_at = now() - interval '99 hours'
    where item_id is not null`,
  ],
  [
    'attempt',
    `state = 'review', ended_at = null, intent_at = now() - interval '98 hours'
    where engagement_id is not null`,
  ],
  ['channel_reply', `status = 'unknown', created_at = now() - interval '97 hours' where true`],
  [
    'agent_approval',
    `status = 'pending', decided_at = null, created_at = now() - interval '96 hours'
    where true`,
  ],
  ['agent_job', `held_since = now() - interval '95 hours' where true`],
  ['work', `failures = 3, kind = 'watch', due_at = now() - interval '94 hours' where true`],
  ['connection', `status = 'disconnected', updated_at = now() - interval '93 hours' where true`],
  ['channel_connection', `status = 'failing', checked_at = now() - interval '92 hours' where true`],
  [
    'mcp_server',
    `status = 'failing', enabled = true, looked_at = now() - interval '91 hours'
    where true`,
  ],
  [
    'webhook_endpoint',
    `status = 'disabled', failing_since = now() - interval '90 hours' where true`,
  ],
  ['item', `status = 'approved', restored_as_of = now() - interval '89 hours' where true`],
  ['engagement', `status = 'approved', restored_as_of = now() - interval '88 hours' where true`],
]

beforeAll(async () => {
  stuck = (await app.newWorkspace()).tenantId
  quiet = (await app.newWorkspace()).tenantId
  for (const tenantId of [stuck, quiet]) {
    await app.owner`delete from connection where tenant_id = ${tenantId}`
    const written = await writeRows(app.owner, tenantId)
    if (tenantId === stuck) rows = written
    // As they are, none of the rows waits for anybody.
    await app.owner`update attempt set state = 'posted' where tenant_id = ${tenantId}`
    await app.owner`update channel_reply set status = 'sent' where tenant_id = ${tenantId}`
    await app.owner`update agent_approval set status = 'approved', decided_at = now()
      where tenant_id = ${tenantId}`
  }
})

beforeEach(async () => {
  await app.owner`delete from work where tenant_id = ${stuck} and kind = 'batch'`
  await app.owner`update tenant set billing = 'ok', deletes_at = null, erasure_failures = 0
    where id = ${stuck}`
  for (const [table, set] of states)
    await app.owner.unsafe(`update ${table} set ${set} and tenant_id = '${stuck}'`)
})

test('lists each thing that waits for a person or is stuck, oldest first, with ids and without texts', async () => {
  const { code, json, out, err } = await admin()
  expect([code, err]).toEqual([0, ''])
  expect(named(json.entries)).toEqual([
    'doubt item',
    'doubt engagement',
    'doubt reply',
    'call approval',
    'held job',
    'work watch',
    'connection connection',
    'connection channel',
    'connection mcp_server',
    'connection webhook',
    'restored item',
    'restored engagement',
  ])
  expect(json.next_cursor).toBeNull()
  expect(json.entries[0]).toEqual({
    id: rows.attempt.item_id,
    workspace_id: stuck,
    kind: 'doubt',
    record: 'item',
    since: expect.stringMatching(/^\d{4}-.*Z$/),
  })
  expect(json.entries[3].id).toBe(rows.agent_approval.id)
  expect(out).not.toContain(markOf(stuck))
})

test('is paged, and limited to a workspace', async () => {
  const all = await entries()
  const paged: Entry[] = []
  for (let cursor: string[] = []; ; ) {
    const { json } = await admin('--limit', '3', ...cursor)
    paged.push(...json.entries)
    if (json.next_cursor === null) break
    cursor = ['--cursor', json.next_cursor]
  }
  expect(paged).toEqual(all)
  expect(await entries('--workspace', stuck)).toEqual(all)
  expect(await entries('--workspace', quiet)).toEqual([])
  expect(await entries('--workspace', newId())).toEqual([])
  for (const wrong of [
    ['--workspace', 'x'],
    ['--cursor', 'x'],
    ['--limit', '0'],
  ])
    expect(await admin(...wrong)).toMatchObject({ code: 2 })
})

test('calls, replies and billing may wait for a day; a generation that billing holds is found by its workspace', async () => {
  await app.owner`update channel_reply set status = 'held' where tenant_id = ${stuck}`
  expect(named(await entries())).toContain('reply reply')
  await app.owner`update channel_reply set created_at = now() where tenant_id = ${stuck}`
  await app.owner`update agent_approval set created_at = now() where tenant_id = ${stuck}`
  await app.owner`update agent_job set held_since = now() where tenant_id = ${stuck}`
  await app.owner`update tenant set billing = 'plan_expired' where id = ${stuck}`
  const [refId, young] = [newId(), newId()]
  for (const [id, hours] of [
    [refId, 30],
    [young, 1],
  ] as const)
    await app.owner`insert into work (id, tenant_id, lane, kind, ref_id, origin, run_at, payload,
        created_at)
      values (${newId()}, ${stuck}, 'generation', 'batch', ${id}, 'manual',
        now() + interval '1 hour', '{"heldSince": "2026-01-01T00:00:00Z"}',
        now() - ${hours} * interval '1 hour')`
  const all = await entries()
  for (const one of ['call approval', 'held job', 'reply reply'])
    expect(named(all)).not.toContain(one)
  expect(all.filter(({ kind }) => kind === 'held')).toMatchObject([{ id: refId, record: 'batch' }])
})

test('what is decided, or no longer approved, waits no longer', async () => {
  await app.owner`update item set restored_as_of = null where tenant_id = ${stuck}`
  await app.owner`update engagement set status = 'drafted' where tenant_id = ${stuck}`
  expect(named(await entries()).filter((one) => one.startsWith('restored'))).toEqual([])
})

test('of a workspace that is to be deleted, only an erasure that fails is shown', async () => {
  await app.owner`update tenant set deletes_at = now() + interval '1 hour',
    erasure_rests_until = now() + interval '1 hour' where id = ${stuck}`
  expect(await entries()).toEqual([])
  await app.owner`update tenant set erasure_failures = 2 where id = ${stuck}`
  expect(await entries()).toMatchObject([{ id: stuck, kind: 'erasure', record: 'workspace' }])
})

test('the role by which operators see it sees no other rows of these tables, and no other columns', async () => {
  const sql = app.owner
  const asSystem = (query: string): Promise<string> =>
    sql
      .begin(async (tx) => {
        await tx.unsafe('set local role tendril_system')
        return String((await tx.unsafe(query)).length)
      })
      .catch(({ code }) => code)
  for (const table of [
    ...['attempt', 'channel_reply', 'agent_approval', 'agent_job', 'mcp_server'],
    ...['item', 'engagement'],
  ])
    expect([table, await asSystem(`select id from ${table} where tenant_id = '${quiet}'`)]).toEqual(
      [table, '0'],
    )
  for (const column of [
    'sent_text from attempt',
    'text from channel_reply',
    'summary from agent_approval',
    'goal from agent_job',
    'payload from work',
    'handle from connection',
    'credentials from channel_connection',
    'headers from mcp_server',
    'url from webhook_endpoint',
    'body from item',
    'body from engagement',
  ])
    expect([column, await asSystem(`select ${column}`)]).toEqual([column, '42501'])
})
