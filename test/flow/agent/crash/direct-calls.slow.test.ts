/**
 * A process dies at each point of the way of a direct call, or of a file that is made: it happens
 * once or not at all, and its key finds what became of it.
 */
import { expect, test } from 'bun:test'
import type { ToolBox } from '#decisions/agent/toolbox'
import { testStops } from '#test/support/actors/stops'
import { makeReport } from '#test/support/agent/artifacts'
import { brokenInvariants } from '#test/support/agent/invariants'
import { changed } from '#test/support/agent/outside-tool'
import { useSuccession } from '#test/support/agent/succession'
import { newSurface, type Surface } from '#test/support/agent/surface'
import { eventually, type Reply } from '#test/support/app'

/** The clock as a tool that takes its time, so that the lane runs it. */
const slowClock = (box: ToolBox): ToolBox => {
  const tools = new Map(box.tools)
  tools.set('get_current_time', { ...box.tools.get('get_current_time')!, class: 'outside_read' })
  return changed(box, { tools, asks: () => [] })
}

const stops = testStops()
const processes = useSuccession({ overrides: { failpoints: stops.at, tools: slowClock } })

interface Called {
  path: string
  body: object
  /** What there is of it in the end. */
  memories?: number
  file?: string
}

const remember: Called = {
  path: 'actions/remember',
  body: { text: 'Posts go out on Mondays', scope: 'workspace' },
  memories: 1,
}
const FILE = { fileName: 'late.md', kind: 'report', mimeType: 'text/markdown', content: '# Late\n' }
const makeFile: Called = { path: 'actions/create_artifact', body: FILE, file: FILE.content }
const readClock: Called = { path: 'actions/get_current_time', body: { timeZone: 'UTC' } }

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const call = ({ key }: Surface, { path, body }: Called): Promise<Reply<any>> =>
  processes.running.send('POST', `/api/v1/${path}`, {
    key,
    body,
    headers: { 'idempotency-key': 'once' },
  })

/** The answer under the key, once there is one. */
const outcome = (surface: Surface, called: Called) =>
  eventually(
    () => call(surface, called),
    ({ status }) => status !== 202 && status !== 503,
  )

const expectOnce = async ({ tenantId, key }: Surface, { path, memories = 0, file }: Called) => {
  const { owner, send } = processes.running
  const [rows] = await owner`select
    (select count(*)::int from agent_memory where tenant_id = ${tenantId}) as memories,
    (select count(*)::int from file where tenant_id = ${tenantId}) as files,
    (select count(*)::int from file_block where tenant_id = ${tenantId}) as blocks`
  const files = file ? 1 : 0
  expect({ ...rows }).toEqual({ memories, files, blocks: files })
  const jobs =
    await owner`select status from agent_job where tenant_id = ${tenantId} and kind = 'action'`
  expect(jobs.map(({ status }) => status)).toEqual(path.startsWith('actions/') ? ['completed'] : [])
  const { artifacts } = (await send('GET', '/api/v1/artifacts', { key })).body
  expect(artifacts).toHaveLength(files)
  for (const { id } of artifacts)
    expect((await send('GET', `/api/v1/artifacts/${id}/download`, { key })).text).toBe(file!)
  expect(await brokenInvariants(owner)).toEqual([])
}

/** Dies while it is called, then calls again under the same key. */
const calledAgain = async (surface: Surface, called: Called, point: string) => {
  const stopped = stops.stopNext(point)
  const lost = call(surface, called).catch(() => undefined)
  const goOn = await stopped
  await processes.die()
  const reply = await outcome(surface, called)
  goOn()
  await lost
  await expectOnce(surface, called)
  return reply
}

test('before the letter of a call is committed: nothing of it happened', async () => {
  const surface = await newSurface(processes.running)
  const stopped = stops.stopNext('letter.deciding:agent.actions.call')
  const lost = call(surface, remember).catch(() => undefined)
  const goOn = await stopped
  const { owner } = await processes.die()
  expect(await owner`select 1 from agent_job where tenant_id = ${surface.tenantId}`).toHaveLength(0)
  expect((await outcome(surface, remember)).status).toBe(200)
  goOn()
  await lost
  await expectOnce(surface, remember)
})

test('when it was done and nobody heard: the same key gets the same answer', async () => {
  const calls = await Promise.all(
    [remember, makeFile].map(async (called) => {
      const surface = await newSurface(processes.running)
      return { surface, called, text: (await outcome(surface, called)).text }
    }),
  )
  await processes.die()
  for (const { surface, called, text } of calls) {
    expect((await outcome(surface, called)).text).toBe(text)
    await expectOnce(surface, called)
  }
})

/** Its letter, its claim, beside the mailbox, and the letter that makes the file. */
test.each([
  'letter.deciding:agent.actions.call',
  'agent.beginning',
  'agent.claimed',
  'letter.deciding:agent.settle',
])('while a file is made, at %s', async (point) => {
  const { status, body } = await calledAgain(await newSurface(processes.running), makeFile, point)
  expect([status, body.result.artifact.fileName]).toEqual([200, 'late.md'])
})

test('while a report is made a file, between the bytes and the letter', async () => {
  const surface = await newSurface(processes.running)
  const { id: recordId } = await makeReport(surface)
  const called = {
    path: 'artifacts',
    body: { record: 'report', recordId },
    file: '# Week of 16 November\n',
  }
  const point = 'letter.deciding:agent.artifacts.create'
  expect((await calledAgain(surface, called, point)).status).toBe(201)
})

test('while a call runs beside the mailbox: what only reads is run again', async () => {
  const surface = await newSurface(processes.running)
  const { status, body } = await calledAgain(surface, readClock, 'agent.claimed')
  expect([status, body.result.timeZone]).toEqual([200, 'UTC'])
})

test('when it was asked, when it was decided, and while it is carried out: it happens once', async () => {
  const surface = await newSurface(processes.running)
  const owner = await surface.as('owner')
  await surface.send('PUT', 'tool-rules/remember', { decision: 'ask' }, owner)
  expect((await call(surface, remember)).status).toBe(409)
  // It decides, and claims nothing.
  const second = await processes.die({ lanes: [] })
  expect((await call(surface, remember)).status).toBe(409)
  const [approval] = await second.owner`select id from agent_approval
    where tenant_id = ${surface.tenantId} and status = 'pending'`
  const path = `/api/v1/agent/approvals/${approval!.id}/approve`
  expect((await second.send('POST', path, { key: owner, body: {} })).status).toBe(200)
  const stopped = stops.stopNext('agent.executing')
  await processes.die()
  const goOn = await stopped
  await processes.die()
  expect((await outcome(surface, remember)).status).toBe(200)
  goOn()
  await expectOnce(surface, remember)
})
