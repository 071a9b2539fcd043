/** Two servers on one database, and what commands do and say beside them. */
import { expect, test } from 'bun:test'
import { newDeployment, runAdmin, startServer } from '#test/support/processes/server'
import { use } from '#test/support/use'

const deployment = use(newDeployment)

const nodes = async (...args: string[]) => {
  const { code, json, err } = await runAdmin(deployment.server, 'nodes', ...args)
  expect([code, err]).toEqual([0, ''])
  return json
}

const time = expect.stringMatching(/^\d{4}-.*Z$/)

test('nodes shows the living servers, what they own, and one whose lease has ended; commands run in the owner', async () => {
  {
    await using first = await startServer(deployment.server)
    await using second = await startServer(deployment.server)
    await second.send('PUT', 'profile', { body: { goal: 'makes a server own the workspace' } })
    const [owned] = await deployment.owner`select owner from actor`
    const { nodes: shown, next_cursor } = await nodes()
    const common = { started_at: time, lease_until: time, alive: true, connected: true }
    const urls = shown.map(({ url }: { url: string }) => url)
    expect(urls.toSorted()).toEqual([first.url, second.url].toSorted())
    for (const one of shown)
      expect(one).toMatchObject({ ...common, workspaces: one.id === owned!.owner ? 1 : 0 })
    expect(next_cursor).toBeNull()
    const { tenantId } = await deployment.firstWorkspace()
    for (const [command, paused] of [
      ['pause', true],
      ['resume', false],
    ] as const) {
      await runAdmin(deployment.server, 'tenant', command, '--workspace', tenantId)
      for (const server of [first, second])
        expect((await server.send('GET', 'automation')).body.automation.paused).toBe(paused)
    }
    // The command has run in the process that owns the workspace, and taken nothing.
    expect((await deployment.owner`select owner from actor`)[0]).toEqual(owned)
    const { nodes: one, next_cursor: cursor } = await nodes('--limit', '1')
    const { nodes: other } = await nodes('--limit', '1', '--cursor', cursor)
    expect([...one, ...other].map(({ id }) => id)).toEqual(shown.map(({ id }: typeof one) => id))
  }
  // Both were killed. Nobody runs who would remove them, or one that has been gone for longer.
  const gone = { id: crypto.randomUUID(), url: 'http://10.0.0.9:7070' }
  await deployment.owner`insert into node (incarnation, lock_key, url, expires_at)
    values (${gone.id}, 7, ${gone.url}, now() - interval '1 minute')`
  const { nodes: left } = await nodes()
  expect(left.map(({ connected }: { connected: boolean }) => connected)).toEqual([
    false,
    false,
    false,
  ])
  const times = { started_at: time, lease_until: time }
  expect(left).toContainEqual({ ...gone, ...times, alive: false, connected: false, workspaces: 0 })
  await deployment.owner`delete from node`
})
