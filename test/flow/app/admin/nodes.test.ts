/** Two servers on one database, and what commands do and say beside them. */
import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { testApp } from '#test/support/app'
import { freshDb, TEST_SECRET } from '#test/support/database/db'
import { runAdmin } from '#test/support/processes/server'
import { use } from '#test/support/use'

const db = use(freshDb)

const admin = (...args: string[]) =>
  runAdmin({ key: '', database: db.options, secret: TEST_SECRET.toString('base64') }, ...args)
const nodes = async (...args: string[]) => {
  const { code, json, err } = await admin('nodes', ...args)
  expect([code, err]).toEqual([0, ''])
  return json
}

const time = expect.stringMatching(/^\d{4}-.*Z$/)
const times = { started_at: time, lease_until: time }

test('nodes shows the living servers, what they own, and one whose lease has ended; commands run in the owner', async () => {
  const gone = { id: crypto.randomUUID(), url: 'http://10.0.0.9:7070' }
  {
    await using first = await testApp({ database: db.options })
    await using second = await testApp({ database: db.options })
    await second.newWorkspace()
    const { nodes: shown, next_cursor } = await nodes()
    expect(next_cursor).toBeNull()
    expect(shown).toHaveLength(2)
    for (const [server, workspaces] of [
      [first, 1],
      [second, 2],
    ] as const)
      expect(shown).toContainEqual({
        ...times,
        id: server.workplace.runtime.incarnation,
        url: server.url,
        alive: true,
        connected: true,
        workspaces,
      })
    const { nodes: one, next_cursor: cursor } = await nodes('--limit', '1')
    const { nodes: other } = await nodes('--limit', '1', '--cursor', cursor)
    expect([...one, ...other].map(({ id }) => id)).toEqual(shown.map(({ id }: typeof one) => id))
    for (const { key, tenantId } of [first, second]) {
      await admin('tenant', 'pause', '--workspace', tenantId)
      for (const { send } of [first, second])
        expect((await send('GET', 'automation', { key })).body.automation.paused).toBe(true)
    }
    // Both were carried out by the owners; the commands have taken nothing.
    expect(
      [first, second].map(({ workplace, tenantId }) => workplace.runtime.owns(tenantId)),
    ).toEqual([true, true])
  }
  // No server runs that would remove it.
  const sql = postgres({ ...db.options, max: 1 })
  await sql`insert into node (incarnation, lock_key, url, expires_at)
    values (${gone.id}, 7, ${gone.url}, now() - interval '1 minute')`
  await sql.end()
  expect((await nodes()).nodes).toEqual([
    { ...gone, ...times, alive: false, connected: false, workspaces: 0 },
  ])
})
