/** `tendril admin tenant erase` and `keep`, beside a server and without one. */
import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { testFailpoints } from '#test/support/actors/failpoints'
import { freshDb, TEST_SECRET } from '#test/support/database/db'
import { newStory } from '#test/support/growth/story'
import { runAdmin } from '#test/support/processes/server'
import { tokenOf } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const db = use(freshDb)
const points = testFailpoints()
// The server erases nothing by itself while this test runs.
const app = useApp(() => ({
  database: db.options,
  overrides: { failpoints: points.at, erasure: { everyMs: 3_600_000, rows: 1_000 } },
}))

const admin = (...args: string[]) =>
  runAdmin(
    { key: app.key, database: db.options, secret: TEST_SECRET.toString('base64') },
    'tenant',
    ...args,
  )
const erase = (tenantId: string, ...more: string[]) =>
  admin('erase', '--workspace', tenantId, '--name', 'Test', ...more)
const rowsOf = async (tenantId: string): Promise<number> =>
  (await app.owner`select 1 from tenant where id = ${tenantId}`).length

test('erase deletes in fourteen days, in the name of the operator, and owners see it and can cancel', async () => {
  const story = await newStory(app)
  const owner = await tokenOf(app, story.tenantId)
  const id = await story.scheduled(3_600_000)
  const { code, json } = await erase(story.tenantId)
  expect([code, json.erased, json.in_flight]).toEqual([0, false, []])
  expect(json.owners).toHaveLength(1)
  const inDays = (Date.parse(json.deletes_at) - Date.now()) / 86_400_000
  expect(inDays).toBeWithin(13.9, 14.01)
  const seen = await app.send('GET', '/api/v1/app/workspace', { key: owner })
  expect(seen.body.workspace.deletes_at).toBe(json.deletes_at)
  expect((await story.send('POST', `items/${id}/post-now`)).body.error!.message).toContain(
    'an owner can cancel the deletion',
  )
  // Again keeps the date.
  expect((await erase(story.tenantId)).json.deletes_at).toBe(json.deletes_at)
  const kept = await admin('keep', '--workspace', story.tenantId)
  expect(kept.json).toMatchObject({ deletes_at: null, paused: true, by: { id: 'operator' } })
  expect((await admin('resume', '--workspace', story.tenantId)).json.paused).toBe(false)
  const audited = await app.owner`select operation from audit
    where tenant_id = ${story.tenantId} and actor_id = 'operator' and surface = 'admin'
      and operation ~ 'Deletion|automation' order by id`
  expect(audited.map(({ operation }) => operation)).toEqual([
    'app.workspace.requestDeletion',
    'app.workspace.requestDeletion',
    'app.workspace.cancelDeletion',
    'growth.automation.resumeAll',
  ])
})

test('keep changes nothing where nothing is to be deleted', async () => {
  const { tenantId } = await app.newWorkspace()
  const kept = await admin('keep', '--workspace', tenantId)
  expect(kept).toMatchObject({ code: 0, json: { deletes_at: null, paused: false } })
  expect(
    await app.owner`select 1 from audit where tenant_id = ${tenantId}
    and actor_id = 'operator' and operation ~ 'Deletion'`,
  ).toHaveLength(0)
})

test('erase --now leaves nothing of the workspace, and nothing of another is touched', async () => {
  const [doomed, other] = [await app.newWorkspace(), await app.newWorkspace()]
  await app.send('POST', 'items', { key: doomed.key, body: { text: 'gone' } })
  expect((await erase(doomed.tenantId, '--now')).json).toMatchObject({
    workspace_id: doomed.tenantId,
    erased: true,
    deletes_at: null,
  })
  expect(await rowsOf(doomed.tenantId)).toBe(0)
  expect((await app.send('GET', 'overview', { key: doomed.key })).status).toBe(401)
  expect((await app.send('GET', 'overview', { key: other.key })).status).toBe(200)
  expect(await erase(doomed.tenantId, '--now')).toMatchObject({ code: 6 })
})

test('erase --now waits for what is on its way', async () => {
  const story = await newStory(app)
  points.arm('send.sent', 'hang')
  const id = await story.approved()
  const posting = story.send('POST', `items/${id}/post-now`)
  await points.reached('send.sent')
  const erasing = erase(story.tenantId, '--now')
  await Bun.sleep(300)
  expect(await rowsOf(story.tenantId)).toBe(1)
  points.release('send.sent')
  expect((await posting).status).toBe(200)
  expect((await erasing).json).toMatchObject({ erased: true, in_flight: [] })
})

test('two operators at once erase it once', async () => {
  const { tenantId } = await app.newWorkspace()
  const both = await Promise.all([erase(tenantId, '--now'), erase(tenantId, '--now')])
  expect(both.some(({ json }) => json?.erased)).toBe(true)
  for (const { code } of both) expect(code).toBeOneOf([0, 6, 7])
  expect(await rowsOf(tenantId)).toBe(0)
})

test('an erasure that has begun is finished by --now, and cannot be taken back', async () => {
  const { tenantId } = await app.newWorkspace()
  await app.owner`update tenant set deletes_at = now() - interval '1 hour', erasure_failures = 3,
    erasure_rests_until = now() + interval '1 hour' where id = ${tenantId}`
  await app.owner`delete from actor where tenant_id = ${tenantId}`
  expect(await admin('keep', '--workspace', tenantId)).toMatchObject({
    code: 7,
    err: `tendril admin: this workspace is being erased (workspace ${tenantId})\n`,
  })
  expect((await erase(tenantId)).json).toMatchObject({ erased: false })
  expect((await erase(tenantId, '--now')).json.erased).toBe(true)
  expect(await rowsOf(tenantId)).toBe(0)
})

test('erase wants the name, and refuses an unknown id', async () => {
  const { tenantId } = await app.newWorkspace()
  for (const name of ['test', 'Other']) {
    const refused = await admin('erase', '--workspace', tenantId, '--name', name, '--now')
    expect([refused.code, refused.err]).toEqual([
      2,
      `tendril admin: --name must be the name of the workspace ${tenantId}\n`,
    ])
  }
  expect(await admin('erase', '--workspace', tenantId)).toMatchObject({ code: 2 })
  expect(await rowsOf(tenantId)).toBe(1)
  expect(await erase(newId(), '--now')).toMatchObject({ code: 6 })
  expect(await admin('keep', '--workspace', newId())).toMatchObject({ code: 6 })
})
