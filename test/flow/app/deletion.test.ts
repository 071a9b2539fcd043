/**
 * A workspace that its owner deletes: it posts nothing, and the deletion can be cancelled until it
 * is due.
 */
import { afterAll, describe, expect, test } from 'bun:test'
import { keyOperations } from '#contract/index'
import { readsOnly } from '#contract/op'
import { testFailpoints } from '#test/support/actors/failpoints'
import { call, newWorkspace } from '#test/support/contract/prepare'
import { sampleOf } from '#test/support/contract/sample'
import { freshDb } from '#test/support/database/db'
import { makeItemDue } from '#test/support/database/writes'
import { newStory, textOf } from '#test/support/growth/story'
import { heldDrafter } from '#test/support/model/held-drafter'
import { tokenOf } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const PATH = '/api/v1/app/workspace/deletion'

const db = use(freshDb)
const points = testFailpoints()
const held = heldDrafter()
afterAll(() => held.release())
const app = useApp(() => ({
  database: db.options,
  overrides: { failpoints: points.at, drafter: held.drafter },
}))

const requestDeletion = (key: string, name = 'Test') =>
  app.send('POST', PATH, { key, body: { name } })
const cancelDeletion = (key: string) => app.send('DELETE', PATH, { key })
const workspaceOf = async (key: string) =>
  (await app.send('GET', '/api/v1/app/workspace', { key })).body.workspace

test('needs the name of the workspace', async () => {
  const owner = await tokenOf(app, (await app.newWorkspace()).tenantId)
  for (const name of ['', 'test', 'Another']) {
    const wrong = await requestDeletion(owner, name)
    expect([wrong.status, wrong.body.error.details]).toEqual([
      400,
      [{ path: 'name', message: "must be the workspace's name" }],
    ])
  }
  expect((await workspaceOf(owner)).deletes_at).toBeNull()
})

test('is due in fourteen days, shows in the workspace, and keeps its date when requested again', async () => {
  const { tenantId } = await app.newWorkspace()
  const owner = await tokenOf(app, tenantId)
  const first = await requestDeletion(owner)
  expect([first.status, first.body.deletion.automation]).toEqual([
    200,
    { paused: true, in_flight: [] },
  ])
  const { deletes_at } = first.body.deletion
  const [row] =
    await app.owner`select deletes_at - at = interval '14 days' as fortnight from tenant t
      join audit a on a.tenant_id = t.id
    where t.id = ${tenantId} and operation = 'app.workspace.requestDeletion'`
  expect(row!.fortnight).toBe(true)
  expect((await requestDeletion(owner)).body).toEqual(first.body)
  expect((await workspaceOf(owner)).deletes_at).toBe(deletes_at)
  expect((await cancelDeletion(owner)).body.deletion).toEqual({
    deletes_at: null,
    automation: { paused: true, in_flight: [] },
  })
  expect((await cancelDeletion(owner)).body.deletion.deletes_at).toBeNull()
  expect((await workspaceOf(owner)).deletes_at).toBeNull()
  const audited =
    await app.owner`select operation from audit where tenant_id = ${tenantId} order by id`
  expect(
    audited.map(({ operation }) => operation).filter((one) => one.endsWith('Deletion')),
  ).toEqual([
    ...[
      'app.workspace.requestDeletion',
      'app.workspace.requestDeletion',
      'app.workspace.cancelDeletion',
      'app.workspace.cancelDeletion',
    ],
  ])
})

describe('while a deletion is pending', () => {
  test('every command is refused to keys and people with the date and the way to cancel; reads go on', async () => {
    const workspace = await newWorkspace(app)
    const owner = await tokenOf(app, workspace.tenantId)
    const { deletes_at } = (await requestDeletion(owner)).body.deletion
    for (const key of [workspace.key, owner])
      for (const o of keyOperations.filter((one) => !readsOnly(one) && !one.whileDeleting)) {
        const { status, body } = await call({ app, key }, o, sampleOf(o, 'needed'))
        expect([o.id, status, body.error?.code]).toEqual([o.id, 409, 'conflict'])
        expect(body.error?.message).toContain(
          `scheduled for deletion at ${deletes_at}; an owner can cancel the deletion with DELETE ${PATH}`,
        )
      }
    for (const key of [workspace.key, owner])
      expect((await app.send('GET', 'overview', { key })).status).toBe(200)
    expect((await app.send('GET', '/api/v1/app/workspace/export', { key: owner })).text).toContain(
      '"kind":"end"',
    )
    expect(
      (await app.send('PUT', '/api/v1/app/workspace', { key: owner, body: { name: 'New' } }))
        .status,
    ).toBe(409)
    expect((await cancelDeletion(owner)).status).toBe(200)
    expect(
      (await app.send('PUT', 'profile', { key: workspace.key, body: { goal: 'On' } })).status,
    ).toBe(200)
  })

  test('what falls due stays scheduled; after cancelling, automation is paused; once resumed, it posts', async () => {
    const story = await newStory(app)
    const owner = await tokenOf(app, story.tenantId)
    const id = await story.scheduled(3_600_000)
    points.arm('send.claimed', 'hang')
    const now = await story.approved()
    const posting = story.send('POST', `items/${now}/post-now`)
    await points.reached('send.claimed')
    await makeItemDue(app, id)
    expect((await requestDeletion(owner)).body.deletion.automation).toEqual({
      paused: true,
      in_flight: [],
    })
    points.release('send.claimed')
    const refused = await posting
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      'cannot post: the workspace is scheduled for deletion',
    ])
    expect(await story.item(now)).toMatchObject({
      status: 'approved',
      last_error: 'workspace_deletion',
    })
    expect(await story.item(id)).toMatchObject({ status: 'approved', post_at: expect.any(String) })
    expect((await cancelDeletion(owner)).body.deletion.automation.paused).toBe(true)
    expect(await story.posts()).toEqual({})
    expect((await story.send('POST', 'automation/resume-all')).body.automation.paused).toBe(false)
    await story.settled(id, 'posted')
    expect((await story.send('POST', `items/${now}/post-now`)).body.item.status).toBe('posted')
    expect(await story.posts()).toEqual({ [textOf(id)]: 1, [textOf(now)]: 1 })
  })

  test('running and queued drafting is cancelled, and its quota comes back', async () => {
    const { tenantId, key } = await app.newWorkspace()
    for (const focus of ['runs', 'waits'])
      await app.send('POST', 'batches', { key, body: { count: 3, focus } })
    await held.begun(1)
    expect((await requestDeletion(await tokenOf(app, tenantId))).status).toBe(200)
    const batches = async () =>
      (await app.send('GET', 'batches', { key })).body.batches as {
        status: string
        error: string
      }[]
    expect((await batches()).map(({ status, error }) => [status, error])).toEqual([
      ['failed', 'cancelled'],
      ['failed', 'cancelled'],
    ])
    const [posts] =
      await app.owner`select used from counter where tenant_id = ${tenantId} and key = 'posts'`
    expect(posts!.used).toBe(0)
    expect(
      await app.owner`select id from work where tenant_id = ${tenantId} and lane = 'generation'`,
    ).toHaveLength(0)
  })

  test('a post that is already being sent is reported as in flight, and counts as posted', async () => {
    const story = await newStory(app)
    const owner = await tokenOf(app, story.tenantId)
    points.arm('sandbox.received', 'hang')
    const id = await story.scheduled(0)
    await points.reached('sandbox.received')
    expect((await requestDeletion(owner)).body.deletion.automation.in_flight).toEqual([
      { item_id: id, origin: 'automatic', since: expect.any(String) },
    ])
    points.release('sandbox.received')
    expect(await story.settled(id, 'posted')).toMatchObject({ status: 'posted' })
  })
})
