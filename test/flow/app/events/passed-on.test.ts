/** Hints of a workspace that another process owns. */
import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { openStream } from '#test/support/http/event-stream'
import { followHints } from '#test/support/http/hint-stream'
import { useApp } from '#test/support/use'

/** It does not look whether it still owns the workspaces of its streams. */
const app = useApp({ overrides: { streamTimes: { lookMs: 3_600_000 } } })
const quiet = useApp(() => ({
  database: app.options,
  overrides: { streamTimes: { lookMs: 20 } },
}))

/** Something that all are told of. Returns its id. */
const learn = async (key: string, server = app): Promise<string> => {
  const body = { kind: 'worked', note: newId() }
  const reply = await server.send('POST', 'learnings', { key, body })
  expect(reply.status).toBe(201)
  return reply.body.learning.id
}

test('a stream at a process that does not own the workspace is passed on', async () => {
  const { key } = app
  await learn(key)
  await using stream = await followHints(quiet.url, { key })
  const id = await learn(key, quiet)
  await stream.until(({ data }) => data.id === id)
  await using refused = await openStream(`${quiet.url}/api/v1/app/events`, {
    key,
    headers: { 'x-tendril-hop': '1' },
  })
  expect(refused.response.status).toBe(503)
})

test('a stream that was passed on ends once its own process has the workspace', async () => {
  const { key, tenantId } = await app.newWorkspace()
  await learn(key)
  await using stream = await followHints(quiet.url, { key })
  // The former owner says nothing, as one that hangs.
  await app.owner`update actor set owner = ${quiet.workplace.runtime.incarnation},
    epoch = epoch + 1 where tenant_id = ${tenantId}`
  await quiet.workplace.runtime.wake(tenantId)
  // Long before the silence of the former owner would end it.
  const hasEnded = stream.ended().then(() => true)
  expect(await Promise.race([hasEnded, Bun.sleep(10_000)])).toBe(true)
})
