/**
 * `tendril admin tenant pause`, `resume`, `suspend` and `unsuspend`, of a workspace that a server
 * owns and of one that nobody does.
 */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { freshDb, TEST_SECRET } from '#test/support/database/db'
import { makeItemDue } from '#test/support/database/writes'
import { newStory, textOf } from '#test/support/growth/story'
import { runAdmin } from '#test/support/processes/server'
import { tokenOf } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const db = use(freshDb)
const app = useApp(() => ({ database: db.options }))

const admin = (...args: string[]) =>
  runAdmin(
    { key: app.key, database: db.options, secret: TEST_SECRET.toString('base64') },
    'tenant',
    ...args,
  )
const on = (command: string, tenantId: string) => admin(command, '--workspace', tenantId)

const BY_OPERATOR = { kind: 'system', id: 'operator', name: null }

const audited = async (tenantId: string) =>
  (
    await app.owner`select operation, surface from audit where tenant_id = ${tenantId}
      and actor_kind = 'system' and actor_id = 'operator' and operation like 'growth.automation.%'
        order by id`
  ).map(({ operation, surface }) => `${operation} ${surface}`)

test('pause stops what is due, resume lets it out, and both are audited in the name of the operator', async () => {
  const story = await newStory(app)
  const id = await story.scheduled(3_600_000)
  const { code, json } = await on('pause', story.tenantId)
  expect(code).toBe(0)
  expect(json).toMatchObject({
    workspace_id: story.tenantId,
    paused: true,
    by: BY_OPERATOR,
    in_flight: [],
  })
  await makeItemDue(app, id)
  expect((await on('pause', story.tenantId)).json).toMatchObject({
    since: json.since,
    paused: true,
  })
  expect(await story.posts()).toEqual({})
  expect((await on('resume', story.tenantId)).json).toMatchObject({ paused: false, by: null })
  await story.settled(id, 'posted')
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
  expect((await on('resume', story.tenantId)).json).toMatchObject({ paused: false })
  expect(await audited(story.tenantId)).toEqual([
    'growth.automation.pauseAll admin',
    'growth.automation.resumeAll admin',
  ])
})

test('what people have paused stays paused, whether before the operator or after', async () => {
  for (const order of [
    ['people', 'operator'],
    ['operator', 'people'],
  ]) {
    const { tenantId } = await app.newWorkspace()
    const owner = await tokenOf(app, tenantId)
    const send = (path: string) => app.send('POST', `automation/${path}`, { key: owner })
    for (const who of order) await (who === 'people' ? send('pause-all') : on('pause', tenantId))
    const resumed = (await on('resume', tenantId)).json
    expect(resumed).toMatchObject({ paused: true, by: { kind: 'person' } })
    const [row] = await app.owner`select count(*)::int as rows from audit
      where tenant_id = ${tenantId} and operation = 'growth.automation.pauseAll'
        and actor_kind = 'person'`
    expect(row!.rows).toBe(1)
    expect((await send('resume-all')).body.automation.paused).toBe(false)
  }
})

test('people can end the pause of the operator, who is then told that nothing is paused', async () => {
  const { tenantId, key } = await app.newWorkspace()
  await on('pause', tenantId)
  const resumed = await app.send('POST', 'automation/resume-all', { key })
  expect(resumed.body.automation.paused).toBe(false)
  expect((await on('resume', tenantId)).json).toMatchObject({ paused: false, by: null })
})

test('two operators at once both get an answer, also where no server owns the workspace', async () => {
  const { workspace_id } = (await admin('create', '--name', 'Nordfracht')).json
  const all = await Promise.all(
    ['pause', 'pause', 'pause'].map((command) => on(command, workspace_id)),
  )
  expect(all.map(({ code, err }) => [code, err])).toEqual(all.map(() => [0, '']))
  expect(all.map(({ json }) => json.paused)).toEqual([true, true, true])
})

test('suspend refuses what costs money, and unsuspend lets it go on', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  expect((await on('suspend', story.tenantId)).json).toMatchObject({ billing: 'billing_suspended' })
  expect((await story.send('POST', `items/${id}/post-now`)).body.error!.message).toContain(
    'plan_invalid:billing_suspended',
  )
  expect((await on('unsuspend', story.tenantId)).json).toMatchObject({
    billing: 'ok',
    plan: 'team',
  })
  expect((await story.send('POST', `items/${id}/post-now`)).status).toBe(200)
})

test('suspend and unsuspend change no other state of the billing, and note only what they change', async () => {
  const { tenantId } = await app.newWorkspace()
  const billingOf = async () =>
    (await app.owner`select billing from tenant where id = ${tenantId}`)[0]!.billing
  for (const billing of ['ok', 'plan_expired', 'trial_expired']) {
    await app.owner`update tenant set billing = ${billing} where id = ${tenantId}`
    expect(await on('unsuspend', tenantId)).toMatchObject({
      code: 7,
      out: '',
      err: `tendril admin: it is not suspended: its billing is ${billing}, which plan set changes (workspace ${tenantId})\n`,
    })
    expect(await billingOf()).toBe(billing)
  }
  expect(await on('suspend', tenantId)).toMatchObject({
    code: 7,
    err: expect.stringContaining('its billing is trial_expired'),
  })
  await app.owner`update tenant set billing = 'ok' where id = ${tenantId}`
  const both = await Promise.all([on('suspend', tenantId), on('suspend', tenantId)])
  expect(both.map(({ json }) => json.billing)).toEqual(['billing_suspended', 'billing_suspended'])
  const ends = await Promise.all([on('unsuspend', tenantId), on('unsuspend', tenantId)])
  expect(ends.map(({ code }) => code).sort()).toEqual([0, 7])
  const audited = await app.owner`select detail->>'billing' as billing from audit
    where tenant_id = ${tenantId} and operation = 'operator.plan.set' order by id`
  expect(audited.map(({ billing }) => billing)).toEqual(['billing_suspended', 'ok'])
})

describe.each(['pause', 'resume', 'suspend', 'unsuspend'])('%s', (command) => {
  test('refuses an unknown id, and names it', async () => {
    const id = newId()
    expect(await on(command, id)).toMatchObject({
      code: 6,
      err: `tendril admin: no such workspace: ${id}\n`,
    })
    expect(await on(command, 'x')).toMatchObject({ code: 2 })
  })
})

test('an id may be typed in capitals', async () => {
  const { tenantId } = await app.newWorkspace()
  const typed = tenantId.toUpperCase()
  for (const [command, state] of [
    ['pause', { paused: true }],
    ['resume', { paused: false }],
    ['suspend', { billing: 'billing_suspended' }],
    ['unsuspend', { billing: 'ok' }],
    ['keep', { deletes_at: null }],
  ] as const)
    expect((await on(command, typed)).json).toMatchObject({ workspace_id: tenantId, ...state })
  expect((await on('unsuspend', typed)).err).toEndWith(` (workspace ${tenantId})\n`)
})

test('pause and resume say when a workspace is scheduled for deletion, or is being erased', async () => {
  const { tenantId } = await app.newWorkspace()
  const path = '/api/v1/app/workspace/deletion'
  await app.send('POST', path, { key: await tokenOf(app, tenantId), body: { name: 'Test' } })
  expect(await on('resume', tenantId)).toMatchObject({
    code: 7,
    err: expect.stringContaining('scheduled for deletion at'),
  })
  await app.owner`update tenant set erasure_rests_until = now() + interval '1 hour'
    where id = ${tenantId}`
  await app.owner`delete from actor where tenant_id = ${tenantId}`
  expect(await on('pause', tenantId)).toMatchObject({
    code: 7,
    err: `tendril admin: this workspace is being erased (workspace ${tenantId})\n`,
  })
})
