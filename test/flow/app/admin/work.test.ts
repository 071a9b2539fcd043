/** `tendril admin work failing`, beside a running server. */
import { beforeAll, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { newDeployment, runAdmin, startServer } from '#test/support/processes/server'
import { use } from '#test/support/use'

const deployment = use(newDeployment)
use(() => startServer(deployment.server))

const admin = (...args: string[]) => runAdmin(deployment.server, 'work', 'failing', ...args)

/** A row of work that rests. */
const row = async (tenantId: string, failures: number): Promise<{ id: string; refId: string }> => {
  const [id, refId] = [newId(), newId()]
  await deployment.owner`insert into work (id, tenant_id, lane, kind, ref_id,
    origin, run_at, due_at, failures, payload)
    values (${id}, ${tenantId}, 'sync', 'watch', ${refId}, 'automatic', now() + interval '1 hour',
      now(), ${failures}, '{"secret": "words"}')`
  return { id, refId }
}

let [first, second] = ['', '']
beforeAll(async () => {
  first = (await deployment.firstWorkspace()).tenantId
  second = (await runAdmin(deployment.server, 'tenant', 'create', '--name', 'Nordfracht')).json
    .workspace_id
})

test('shows what fails and is tried again in any workspace, newest first, page by page, and nothing else', async () => {
  const [bad, worse] = [await row(first, 3), await row(second, 7)]
  await row(first, 0)
  const { code, json, out } = await admin('--limit', '1')
  expect(code).toBe(0)
  const time = expect.stringMatching(/^\d{4}-.*Z$/)
  expect(json.work).toEqual([
    {
      id: worse.id,
      workspace_id: second,
      kind: 'watch',
      ref_id: worse.refId,
      state: 'queued',
      failures: 7,
      next_try_at: time,
      due_at: time,
      error: null,
    },
  ])
  expect(out).not.toContain('words')
  const rest = await admin('--limit', '1', '--cursor', json.next_cursor)
  expect(rest.json).toMatchObject({
    work: [{ id: bad.id, workspace_id: first, failures: 3 }],
    next_cursor: null,
  })
  expect((await admin('--workspace', first)).json.work.map(({ id }: { id: string }) => id)).toEqual(
    [bad.id],
  )
  await deployment.owner`delete from work`
})

test('shows workspaces that cannot be erased, with what that fails of, also once their erasure has begun', async () => {
  const { workspace_id } = (await runAdmin(deployment.server, 'tenant', 'create', '--name', 'Old'))
    .json
  // Nothing here erases it: it rests.
  await deployment.owner`update tenant set deletes_at = now() - interval '1 hour',
    erasure_failures = 2,
    erasure_rests_until = now() + interval '1 hour', erasure_error = 'Error: no'
      where id = ${workspace_id}`
  await deployment.owner`delete from actor where tenant_id = ${workspace_id}`
  const { work } = (await admin('--workspace', workspace_id)).json
  expect(work).toMatchObject([
    {
      id: workspace_id,
      workspace_id,
      kind: 'erasure',
      ref_id: workspace_id,
      failures: 2,
      error: 'Error: no',
    },
  ])
  await deployment.owner`update tenant set deletes_at = null where id = ${workspace_id}`
})

test.each([
  [['--limit', '0'], '--limit must be a whole number from 1 to 100: 0'],
  [['--cursor', 'x'], 'cursor is not a cursor of this list'],
  [['--workspace', 'x'], '--workspace is not an id: x'],
])('refuses %j', async (flags, message) => {
  const { code, err } = await admin(...flags)
  expect([code, err]).toEqual([2, `tendril admin: ${message}\n`])
})

test('the role by which operators see it sees no work that does not fail, and no texts', async () => {
  const sql = deployment.owner
  await row(first, 0)
  const asSystem = (query: string) =>
    sql.begin(async (tx) => {
      await tx.unsafe('set local role tendril_system')
      return (await tx.unsafe(query)).length
    })
  expect(await asSystem('select id from work')).toBe(0)
  expect(await asSystem('select payload from work').then(String, ({ code }) => code)).toBe('42501')
})
