/** What a collector of traces gets, from the request to the outcome. */
import { expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { newId } from '#kernel/ids'
import type { Overrides } from '#server/opening'
import type { ConnectionOptions } from '#store/engine/db'
import { testStops } from '#test/support/actors/stops'
import { eventually, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { endLeases, makeItemDue } from '#test/support/database/writes'
import { crash, newStory, type Story } from '#test/support/growth/story'
import { type CollectedSpan, openCollector } from '#test/support/http/collector'
import { hookOf } from '#test/support/http/hooks'
import { openReceiver } from '#test/support/http/receiver'
import { connectMcp } from '#test/support/mcp/mcp'
import { use } from '#test/support/use'

const HOUR = 3_600_000
const WORDS = 'Harbour pilots prefer quince marmalade'
const HEADER = 'Bearer of-the-collector'

/** A send may begin in the first two seconds of its lease. */
const times: SendTimes = {
  ...sendTimes,
  leaseMs: 2_600,
  deadlineMs: 500,
  marginMs: 100,
  settleMs: 50,
  windowMs: 150,
}

const collector = use(openCollector)
const hooks = use(openReceiver)
const traceLimits = { everyMs: 10 }
const served = (overrides: Overrides = {}, database?: ConnectionOptions) =>
  testApp({
    ...(database && { database }),
    overrides: { traceLimits, ...overrides },
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${encodeURIComponent(HEADER)}`,
      EGRESS_ALLOW: `127.0.0.1:${hooks.port}`,
    },
  })
const app = use(() => served())

const about = (spans: CollectedSpan[], name: string, facts: object): CollectedSpan[] =>
  spans.filter(
    (span) =>
      span.name === name &&
      Object.entries(facts).every(([fact, value]) => span.facts[fact] === value),
  )
/** The spans of one name of a workspace, once there is one. */
const collected = async (name: string, facts: object): Promise<CollectedSpan> =>
  about(await collector.until((all) => about(all, name, facts).length > 0), name, facts)[0]!
const inTrace = ({ traceId }: CollectedSpan): CollectedSpan[] =>
  collector.spans().filter((span) => span.traceId === traceId)
const scheduling = (story: Story) =>
  collected('growth.items.schedule', { workspace: story.tenantId })

test('a request and its letter are spans of one trace, which a stranger can only be linked to', async () => {
  const story = await newStory(app)
  const [traceId, spanId] = ['a'.repeat(32), 'b'.repeat(16)]
  const headers = {
    traceparent: `00-${traceId}-${spanId}-01`,
    'x-request-id': WORDS.replaceAll(' ', '-'),
  }
  const { status } = await story.send('PUT', 'profile', { body: { goal: WORDS }, headers })
  expect(status).toBe(200)
  const request = await collected('growth.profile.update', { workspace: story.tenantId })
  const letter = await collected('letter growth.profile.update', { workspace: story.tenantId })
  expect(request).toMatchObject({ kind: 2, links: [{ traceId, spanId }] })
  expect(request.parentSpanId).toBeUndefined()
  expect(request.traceId).not.toBe(traceId)
  const facts = { outcome: 'answered', 'http.response.status_code': 200, surface: 'rest' }
  expect(request.facts).toEqual({ ...facts, workspace: story.tenantId })
  expect(letter).toMatchObject({ traceId: request.traceId, parentSpanId: request.spanId })
  expect(letter.facts).toMatchObject({ outcome: 'done', priority: 'interactive' })
  expect(BigInt(request.startTimeUnixNano)).toBeLessThanOrEqual(BigInt(letter.startTimeUnixNano))
  expect(BigInt(letter.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(request.endTimeUnixNano))
  expect(collector.requests[0]).toMatchObject({
    method: 'POST',
    url: '/v1/traces',
    headers: { authorization: HEADER, 'content-type': 'application/json' },
  })
})

test('a refusal says its code, and an id of ours', async () => {
  const story = await newStory(app)
  const [id, requestId] = [newId(), newId()]
  const headers = { 'x-request-id': requestId }
  await story.send('POST', `items/${id}/approve`, { headers })
  const { facts } = await collected('growth.items.approve', { request: requestId })
  expect(facts).toMatchObject({ outcome: 'not_found', 'http.response.status_code': 404 })
  const letter = await collected('letter growth.items.approve', { workspace: story.tenantId })
  expect(letter.facts.outcome).toBe('refused')
})

test('a call over MCP is a span, with its letter, linked to that of a stranger', async () => {
  const story = await newStory(app)
  const [traceId, spanId] = ['c'.repeat(32), 'd'.repeat(16)]
  const headers = {
    authorization: `Bearer ${story.key}`,
    traceparent: `00-${traceId}-${spanId}-01`,
  }
  const transport = { requestInit: { headers } }
  await using mcp = await connectMcp(app.url, { key: story.key, transport })
  const made = await mcp.call('growth_add_learning', { kind: 'worked', note: WORDS })
  expect(made.isError).toBeFalsy()
  const of = { workspace: story.tenantId }
  const call = await collected('growth.learnings.create', { ...of, surface: 'mcp' })
  const letter = await collected('letter growth.learnings.create', of)
  expect(letter).toMatchObject({ traceId: call.traceId, parentSpanId: call.spanId })
  expect(call.links).toEqual([{ traceId, spanId }])
  const link = { traceId: 'e'.repeat(32), spanId }
  transport.requestInit.headers.traceparent = `00-${link.traceId}-${spanId}-01`
  await mcp.call('growth_list_learnings')
  const read = await collected('growth.learnings.list', { ...of, surface: 'mcp' })
  expect(read.links).toEqual([link])
})

test('work goes on with the trace of what led to it, and passes it on', async () => {
  const story = await newStory(app)
  await hookOf(app, story.tenantId).set(hooks.url, ['growth.item.posted'])
  const id = await story.scheduled(0)
  await story.settled(id, 'posted')
  const delivery = await collected('webhook delivery', { outcome: 'accepted' })
  const request = await scheduling(story)
  const all = inTrace(request)
  const of = (name: string) => about(all, name, {})[0]
  const parents = [
    ['letter growth.items.schedule', 'growth.items.schedule'],
    ['work send', 'letter growth.items.schedule'],
    ['send post', 'work send'],
    ['letter send.settle', 'work send'],
  ] as const
  for (const [name, parent] of parents)
    expect([name, of(name)?.parentSpanId]).toEqual([name, of(parent)?.spanId])
  expect(of('work send')?.facts).toMatchObject({ record: id, attempt: 1, outcome: 'posted' })
  expect(of('send post')?.facts).toMatchObject({ record: id, network: 'sandbox', attempt: 1 })
  expect(delivery.traceId).toBe(request.traceId)
})

test('after an hour without a span, what goes on begins a new trace, linked to the old one', async () => {
  const story = await newStory(app)
  const id = await story.scheduled(HOUR)
  const old = await scheduling(story)
  const ago = (ms: number) => String(Date.now() - ms)
  const age = async (last: string) =>
    app.owner`update work set trace = regexp_replace(trace, '@\\d+@\\d+$', ${`@${last}@${last}`})
      where ref_id = ${id} and kind = 'send'`
  expect((await age(ago(HOUR + 60_000))).count).toBe(1)
  await makeItemDue(app, id)
  // The server looks for due work once a letter may have made some due.
  await story.scheduled(0)
  await story.settled(id, 'posted')
  const work = await collected('work send', { record: id })
  const first = await collected('due send', { record: id })
  const letter = about(inTrace(old), 'letter growth.items.schedule', {})[0]!
  expect(first.links).toEqual([{ traceId: old.traceId, spanId: letter.spanId }])
  expect(first.traceId).not.toBe(old.traceId)
  expect(work).toMatchObject({ traceId: first.traceId, parentSpanId: first.spanId })
})

test('a trace goes on in other processes, and after the death of one', async () => {
  await using database = await freshDb()
  const stops = testStops()
  await using dying = await served({ failpoints: stops.at }, database.options)
  await using next = await served({ times }, database.options)
  const story = await newStory(dying)
  // Its commands are decided where the workspace is owned.
  await story.at(next).send('PUT', 'profile', { body: { goal: WORDS } })
  const asked = await collected('growth.profile.update', { workspace: story.tenantId })
  const decided = await collected('letter growth.profile.update', { workspace: story.tenantId })
  expect(decided).toMatchObject({ traceId: asked.traceId, parentSpanId: asked.spanId })
  expect(decided.instance).not.toBe(asked.instance)
  const stopped = stops.stopNext('send.sent')
  const id = await story.scheduled(0)
  const goOn = await stopped
  const request = await scheduling(story)
  await crash(dying)
  await endLeases(dying)
  const collectedBefore = new Set(collector.spans().map(({ spanId }) => spanId))
  const posted = await eventually(
    // A busy machine may take longer to connect than callers wait.
    () =>
      story
        .at(next)
        .item(id)
        .catch(() => undefined),
    (item) => item?.status === 'posted',
  )
  goOn()
  expect(posted?.status).toBe('posted')
  await collected('work reconcile', { record: id })
  const all = inTrace(request)
  const after = all.filter(({ spanId }) => !collectedBefore.has(spanId)).map(({ name }) => name)
  expect(all.map(({ name }) => name)).toContain('send post')
  for (const name of ['letter send.orphaned', 'work reconcile', 'letter reconcile.settle'])
    expect(after).toContain(name)
  const [here, there] = [request.instance, about(all, 'work reconcile', {})[0]!.instance]
  expect(there).not.toBe(here)
  const orphaned = about(all, 'letter send.orphaned', {})[0]!
  const scheduled = about(all, 'letter growth.items.schedule', {})[0]!
  expect(orphaned.parentSpanId).toBe(scheduled.spanId)
})

test('no span has a text, or anything of a person or the network', async () => {
  const story = await newStory(app)
  const id = await story.approved(WORDS)
  await story.postNow(id, WORDS)
  await story.send('GET', `items?status=${encodeURIComponent(WORDS)}`)
  await collected('work send', { record: id })
  const sent = collector.requests.map(({ body }) => body).join('\n')
  expect(sent.length).toBeGreaterThan(2_000)
  const secrets = [...WORDS.split(' '), 'Draft', 'ak_', 'whsec_', 'Test', '127.0.0.1', '/api/']
  for (const secret of [...secrets, app.key, HEADER]) expect(sent).not.toContain(secret)
  const ids = /^(?:[0-9a-f-]{36}|[0-9a-f]{32}|[0-9a-f]{16})$/
  const words = new Set(
    collector
      .spans()
      .flatMap(({ facts, name }) => [...Object.values(facts), name])
      .filter((value) => typeof value === 'string' && !ids.test(value)),
  )
  for (const word of words) expect(word).toMatch(/^[a-z][a-z0-9_.]*( [a-z][a-z0-9_.]*)?$/i)
})
