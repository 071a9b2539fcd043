/** Streams in a deployment of several processes. */
import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { createKey } from '#ops/operator/admin/workspaces'
import { jobOf, turn } from '#test/support/agent/agent'
import { eventually, testApp } from '#test/support/app'
import { openStream } from '#test/support/http/event-stream'
import { followHints, openHints } from '#test/support/http/hint-stream'
import { scriptedModel } from '#test/support/model/scripted-model'
import { newDeployment, startServer } from '#test/support/processes/server'
import { useApp } from '#test/support/use'

const gate = { open: () => {}, opened: Promise.resolve() }
const close = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  Object.assign(gate, { open: resolve, opened: promise })
}
const model = scriptedModel(async () => {
  await gate.opened
  return { text: 'From the owner.' }
})
const overrides = { thinker: model, streamTimes: { commentMs: 15_000, lookMs: 50 } }
const owner = useApp({ overrides })
const other = useApp(() => ({ database: owner.options, overrides }))

const eventsOf = (id: string) => `/api/v1/agent/jobs/${id}/events`

const start = async () => {
  const { id, api_key: key } = await owner.newKey(['api:read', 'workspace:use'])
  return { key, job: await turn(owner, { content: 'hi', by: { kind: 'key', id, personId: null } }) }
}

test('a stream through another process has the text of the model', async () => {
  close()
  const { job, key } = await start()
  await using stream = await openStream(`${other.url}${eventsOf(job)}`, { key })
  gate.open()
  const events = await stream.ended()
  expect(events.map(({ type }) => type)).toContain('delta')
  expect(events.at(-1)).toMatchObject({ type: 'job.status', data: { status: 'completed' } })
  await using again = await openStream(`${other.url}${eventsOf(job)}`, { key, last: 2 })
  expect((await again.ended())[0]!.id).toBe(3)
  expect((await jobOf(owner, job)).status).toBe('completed')
})

test('where the owner is not to be asked, the rows are read, without the text', async () => {
  close()
  const { job, key } = await start()
  await using stream = await openStream(`${other.url}${eventsOf(job)}`, {
    key,
    headers: { 'x-tendril-hop': '1' },
  })
  gate.open()
  const events = await stream.ended()
  expect(events.map(({ type }) => type)).not.toContain('delta')
  expect(events).toEqual([...events].filter(({ id }, index) => id === index + 1))
  expect(events.at(-1)).toMatchObject({ data: { status: 'completed' } })
})

test('streams that were passed on leave no place taken, and end when the process that passes them on stops', async () => {
  close()
  const { job, key } = await start()
  await using third = await testApp({ database: owner.options, overrides })
  const url = `${third.url}${eventsOf(job)}`
  for (let opened = 0; opened < 25; opened++) {
    const status = await eventually(
      async () => {
        await using stream = await openStream(url, { key })
        return stream.response.status
      },
      (status) => status === 200,
    )
    expect(status).toBe(200)
  }
  await using stream = await openStream(url, { key })
  await stream.until(({ type }) => type === 'step.started')
  await third[Symbol.asyncDispose]()
  expect((await stream.ended()).map(({ type }) => type)).not.toContain('message')
  gate.open()
})

test('streams that were passed on end with their process, and go on at another', async () => {
  await using deployment = await newDeployment()
  await using one = await startServer(deployment.server)
  const { tenantId } = await deployment.firstWorkspace()
  // From here on it owns the workspace.
  await one.send('PUT', 'profile', { body: { goal: 'own it' } })
  await using two = await testApp({ database: deployment.server.database!, overrides })
  const { api_key: key } = await createKey(two.workplace.db, {
    tenantId,
    scopes: ['api:read', 'api:write', 'workspace:use'],
    name: 'test',
  })
  const [job, other] = [newId(), newId()]
  await two.owner`insert into agent_job (id, tenant_id, kind, status, goal, root_id, origin,
    on_behalf, tier, model, created_at, updated_at)
    values (${job}, ${tenantId}, 'turn', 'running', 'x', ${other}, 'manual', '{}', 'fast', 'x',
      now(), now())`
  const add = (
    seq: number,
    status: string,
  ) => two.owner`with e as (insert into agent_event (tenant_id, job_id, seq, at, type, data)
      values (${tenantId}, ${job}, ${seq}, now(), 'job.status', ${two.owner.json({ status })}))
    update agent_job set next_event = ${seq + 1}, status = ${status},
      ended_at = ${status === 'completed' ? new Date() : null} where id = ${job}`
  await add(1, 'running')
  await using stream = await openStream(`${two.url}${eventsOf(job)}`, { key })
  await stream.until(({ id }) => id === 1)
  await using hints = await followHints(two.url, { key })
  await one.kill()
  await Promise.all([stream.ended(), hints.ended()])
  await using resumed = await openStream(`${two.url}${eventsOf(job)}`, { key, last: 1 })
  await add(2, 'waiting_approval')
  await resumed.until(({ id }) => id === 2)
  await add(3, 'completed')
  expect((await resumed.ended()).map(({ id }) => id)).toEqual([2, 3])
  // Until the death is believed, the owner is not reached, and there are no hints.
  const again = await eventually(
    () => openHints(two.url, { key }),
    ({ response: { status } }) => status === 200,
  )
  await again.resynced(1)
  await two.send('PUT', 'profile', { key, body: { goal: 'go on' } })
  await again.until(({ data }) => data.kind === 'profile')
  await again[Symbol.asyncDispose]()
})
