/** No workspace takes what streams others need. */
import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { createKey, createWorkspace } from '#ops/operator/admin/workspaces'
import { testApp } from '#test/support/app'
import { type EventClient, openStream } from '#test/support/http/event-stream'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()
type App = typeof app

/** A workspace with a job that goes on, and what opens its streams. */
const follower = async (server: App) => {
  const tenantId = await createWorkspace(server.workplace.db, 'Other')
  const job = newId()
  await server.owner`insert into agent_job
    (id, tenant_id, kind, status, goal, root_id, origin,
      on_behalf, tier, model, created_at, updated_at)
    values (${job}, ${tenantId}, 'turn', 'waiting_approval', 'x', ${job}, 'manual', '{}', 'fast',
      'x', now(), now())`
  const newKey = async () => {
    const scopes = ['api:read', 'workspace:use'] as const
    return (await createKey(server.workplace.db, { tenantId, scopes: [...scopes], name: 'reader' }))
      .api_key
  }
  const open = (key: string) => openStream(`${server.url}/api/v1/agent/jobs/${job}/events`, { key })
  return { newKey, open }
}

const closeAll = (streams: EventClient[]) =>
  Promise.all(streams.map((stream) => stream[Symbol.asyncDispose]()))

test('a workspace has at most 200 streams of a process, whatever the number of its keys; another one still gets its own', async () => {
  const greedy = await follower(app)
  const streams: EventClient[] = []
  for (let keys = 0; keys < 10; keys++) {
    const key = await greedy.newKey()
    streams.push(...(await Promise.all(Array.from({ length: 20 }, () => greedy.open(key)))))
  }
  expect(streams.map(({ response }) => response.status)).toEqual(streams.map(() => 200))
  const more = await greedy.open(await greedy.newKey())
  expect([more.response.status, more.response.headers.get('retry-after')]).toEqual([429, '5'])
  const other = await follower(app)
  const others = await other.open(await other.newKey())
  expect(others.response.status).toBe(200)
  await closeAll([...streams, more, others])
})

test('in a full process the workspace with the most streams gives its last one up', async () => {
  await using small = await testApp({ overrides: { streamLimits: { perWorkspace: 3, total: 4 } } })
  const [large, one, third] = [await follower(small), await follower(small), await follower(small)]
  const key = await large.newKey()
  const streams = [
    await large.open(key),
    await large.open(key),
    await large.open(key),
    await one.open(await one.newKey()),
  ]
  const late = await third.open(await third.newKey())
  expect(late.response.status).toBe(200)
  await streams[2]!.ended()
  const again = await large.open(key)
  expect(again.response.status).toBe(429)
  await closeAll([...streams, late, again])
})
