/**
 * A process dies at each point of the way of a file that the agent makes: there is one artifact
 * with its bytes, never a part of it.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { makeReport } from '#test/support/agent/artifacts'
import { brokenInvariants } from '#test/support/agent/invariants'
import { newSurface, type Surface } from '#test/support/agent/surface'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb, type TestDatabase } from '#test/support/database/db'
import { crash } from '#test/support/growth/story'

const stops = testStops()
const world = new AsyncDisposableStack()
afterAll(() => world.disposeAsync())
let db: TestDatabase
let running: TestApp
const start = async (): Promise<TestApp> =>
  world.use(await testApp({ database: db.options, overrides: { failpoints: stops.at } }))
beforeAll(async () => {
  db = world.use(await freshDb())
  running = await start()
})

/** The process dies, and another one goes on, which is the one that dies next. */
const die = async (): Promise<TestApp> => {
  await crash(running)
  running = await start()
  return running
}

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
  const surface = await newSurface(running)
  const stopped = stops.stopNext(point)
  const lost = ask(running, surface, making).catch(() => undefined)
  const goOn = await stopped
  const next = await die()
  const reply = await outcome(next, surface, making)
  expect([reply.status, reply.body.result?.artifact.fileName]).toEqual([200, 'late.md'])
  goOn()
  await lost
  await expectOne(next, surface, FILE.content)
})

test('when it was made and nobody heard: the same key gets the same artifact', async () => {
  const surface = await newSurface(running)
  const { text } = await ask(running, surface, making)
  const next = await die()
  expect((await outcome(next, surface, making)).text).toBe(text)
  await expectOne(next, surface, FILE.content)
})

test('of a report, between the bytes and the letter', async () => {
  const surface = await newSurface(running)
  const { id: recordId } = await makeReport(surface)
  const asked: Asked = { path: '/api/v1/artifacts', body: { record: 'report', recordId } }
  const stopped = stops.stopNext('letter.deciding:agent.artifacts.create')
  const lost = ask(running, surface, asked).catch(() => undefined)
  const goOn = await stopped
  const next = await die()
  expect((await outcome(next, surface, asked)).status).toBe(201)
  goOn()
  await lost
  await expectOne(next, surface, '# Week of 16 November\n')
})
