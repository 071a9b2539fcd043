/**
 * A process dies at each point of the way of a file that the agent makes: there is one artifact
 * with its bytes, never a part of it.
 */
import { expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { makeReport } from '#test/support/agent/artifacts'
import { brokenInvariants } from '#test/support/agent/invariants'
import { useSuccession } from '#test/support/agent/succession'
import { newSurface, type Surface } from '#test/support/agent/surface'
import { eventually, type TestApp } from '#test/support/app'

const stops = testStops()
const processes = useSuccession({ overrides: { failpoints: stops.at } })

interface Asked {
  path: string
  body: object
}
const FILE = { fileName: 'late.md', kind: 'report', mimeType: 'text/markdown', content: '# Late\n' }
const making: Asked = { path: '/api/v1/actions/create_artifact', body: FILE }

const ask = (app: TestApp, { key }: Surface, { path, body }: Asked) =>
  app.send('POST', path, { key, body, headers: { 'idempotency-key': 'once' } })

/** The answer under the key, once there is one. */
const outcome = (app: TestApp, surface: Surface, asked: Asked) =>
  eventually(
    () => ask(app, surface, asked),
    ({ status }) => status !== 202 && status !== 503,
  )

const expectOne = async (app: TestApp, { key, tenantId }: Surface, content: string) => {
  const { artifacts } = (await app.send('GET', '/api/v1/artifacts', { key })).body
  expect(artifacts).toHaveLength(1)
  expect(
    (await app.send('GET', `/api/v1/artifacts/${artifacts[0].id}/download`, { key })).text,
  ).toBe(content)
  const [rows] =
    await app.owner`select (select count(*)::int from file where tenant_id = ${tenantId}) as files,
    (select count(*)::int from file_block b where tenant_id = ${tenantId}) as blocks`
  expect({ ...rows }).toEqual({ files: 1, blocks: 1 })
  expect(await brokenInvariants(app.owner)).toEqual([])
}

/**
 * Points on the way of a direct call: its letter, its claim, beside the mailbox, and the letter
 * that makes the file.
 */
test.each([
  'letter.deciding:agent.actions.call',
  'agent.beginning',
  'agent.claimed',
  'letter.deciding:agent.settle',
])('%s', async (point) => {
  const surface = await newSurface(processes.running)
  const stopped = stops.stopNext(point)
  const lost = ask(processes.running, surface, making).catch(() => undefined)
  const goOn = await stopped
  const next = await processes.die()
  const reply = await outcome(next, surface, making)
  expect([reply.status, reply.body.result?.artifact.fileName]).toEqual([200, 'late.md'])
  goOn()
  await lost
  await expectOne(next, surface, FILE.content)
})

test('when it was made and nobody heard: the same key gets the same artifact', async () => {
  const surface = await newSurface(processes.running)
  const { text } = await ask(processes.running, surface, making)
  const next = await processes.die()
  expect((await outcome(next, surface, making)).text).toBe(text)
  await expectOne(next, surface, FILE.content)
})

test('of a report, between the bytes and the letter', async () => {
  const surface = await newSurface(processes.running)
  const { id: recordId } = await makeReport(surface)
  const asked: Asked = { path: '/api/v1/artifacts', body: { record: 'report', recordId } }
  const stopped = stops.stopNext('letter.deciding:agent.artifacts.create')
  const lost = ask(processes.running, surface, asked).catch(() => undefined)
  const goOn = await stopped
  const next = await processes.die()
  expect((await outcome(next, surface, asked)).status).toBe(201)
  goOn()
  await lost
  await expectOne(next, surface, '# Week of 16 November\n')
})
