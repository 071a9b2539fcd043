/** The workspace itself, as its members see it. */
import { expect, test } from 'bun:test'
import { tokenOf } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const PATH = '/api/v1/app/workspace'

test('is shown to every member, and renamed by an owner', async () => {
  const { tenantId } = await app.newWorkspace()
  const [owner, viewer] = [await tokenOf(app, tenantId), await tokenOf(app, tenantId, 'viewer')]
  const before = await app.send('GET', PATH, { key: viewer })
  expect(before.body.workspace).toEqual({
    id: tenantId,
    name: 'Test',
    plan: 'team',
    created_at: expect.any(String),
    deletes_at: null,
  })
  const renamed = await app.send('PUT', PATH, { key: owner, body: { name: ' Dockside ' } })
  expect(renamed.body.workspace).toEqual({ ...before.body.workspace, name: 'Dockside' })
  expect((await app.send('GET', PATH, { key: viewer })).body).toEqual(renamed.body)
  expect((await app.send('PUT', PATH, { key: viewer, body: { name: 'Mine' } })).status).toBe(403)
  expect((await app.send('PUT', PATH, { key: owner, body: { name: '  ' } })).status).toBe(400)
})

test('keeps its name when another is renamed', async () => {
  const [here, there] = [await app.newWorkspace(), await app.newWorkspace()]
  await app.send('PUT', PATH, { key: await tokenOf(app, here.tenantId), body: { name: 'Here' } })
  expect(
    (await app.send('GET', PATH, { key: await tokenOf(app, there.tenantId) })).body.workspace.name,
  ).toBe('Test')
})
