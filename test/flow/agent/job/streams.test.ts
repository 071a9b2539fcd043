/** Following jobs and conversations by server-sent events. */
import { afterEach, expect, test } from 'bun:test'
import { createWorkspace } from '#ops/operator/admin/workspaces'
import type { Thinker } from '#port/model/thinker'
import { jobOf, overJob, turn } from '#test/support/agent/agent'
import { eventually } from '#test/support/app'
import { adoptNow, holdNow } from '#test/support/held'
import { type EventClient, openStream, type StreamRequest } from '#test/support/http/event-stream'
import { useApp } from '#test/support/use'

/** What the model says, and what it waits for before the next piece. */
let script: (string | (() => Promise<void>))[] = []
const model: Thinker = {
  async think({ model }, { onText }) {
    let text = ''
    for (const piece of script) {
      if (typeof piece !== 'string') {
        await piece()
        continue
      }
      onText(piece)
      text += piece
    }
    const usage = { input_tokens: 200, cached_tokens: 0, output_tokens: 20 }
    return { text, calls: [], ending: 'whole', usage, model }
  },
}
const app = useApp({
  overrides: { thinker: model, streamTimes: { commentMs: 15_000, lookMs: 50 } },
})

const held: (() => void)[] = []
afterEach(() => {
  for (const release of held.splice(0)) release()
})
const hold = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  held.push(resolve)
  return { promise, release: resolve }
}

const newKey = () => app.newKey(['api:read', 'workspace:use'])
const start = async () => {
  const { id, api_key: key } = await newKey()
  const job = await turn(app, { content: 'hi', by: { kind: 'key', id, personId: null } })
  const { conversation_id: conversation } = await jobOf(app, job)
  return { job, key, keyId: id, conversation: conversation! }
}
const pathOf = (id: string, of: 'jobs' | 'conversations' = 'jobs') =>
  `/api/v1/agent/${of}/${id}/events`
const follow = (
  id: string,
  request: StreamRequest,
  of?: 'jobs' | 'conversations',
): Promise<EventClient> => openStream(`${app.url}${pathOf(id, of)}`, request)

const rowsOf = async (job: string) =>
  (
    await app.owner<
      { seq: number; type: string; data: object }[]
    >`select seq, type, data from agent_event where job_id = ${job} order by seq`
  ).map(({ seq, type, data }) => ({ id: seq, type, data }))
const textIn = ({ events }: EventClient) =>
  events.flatMap(({ type, data }) => (type === 'delta' ? [data.text] : [])).join('')

test('events come as they are stored, the text of the model before its message, and the stream ends with the job', async () => {
  const more = hold()
  script = ['Good ', () => more.promise, 'morning.']
  const { job, key } = await start()
  await using stream = await follow(job, { key })
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
  expect(stream.response.headers.get('cache-control')).toContain('no-store')
  await stream.until(({ type }) => type === 'delta')
  expect(stream.events.map(({ type }) => type)).not.toContain('message')
  more.release()
  const events = await stream.ended()
  expect(textIn(stream)).toBe('Good morning.')
  const stored = events.filter(({ id }) => id !== undefined)
  expect(stored).toEqual(await rowsOf(job))
  expect(stored.at(-1)).toMatchObject({ type: 'job.status', data: { status: 'completed' } })
  const [lastDelta, message] = [
    events.findLastIndex(({ type }) => type === 'delta'),
    events.findIndex(({ type }) => type === 'message'),
  ]
  expect(lastDelta).toBeLessThan(message)
  expect(stream.text).toStartWith('retry: 2000\n\n')
})

test('a client that comes late gets the text so far at once', async () => {
  const [begun, more] = [hold(), hold()]
  const wait = () => {
    begun.release()
    return more.promise
  }
  script = ['One, ', 'two, ', wait, 'three.']
  const { job, key } = await start()
  await begun.promise
  await using stream = await follow(job, { key })
  const first = await stream.until(({ type }) => type === 'delta')
  expect(first.data).toEqual({ step: 1, at: 0, text: 'One, two, ' })
  more.release()
  await stream.ended()
  expect(textIn(stream)).toBe('One, two, three.')
})

test('a job that is over gives its events and ends, after the last one none', async () => {
  script = ['Done.']
  const { job, key } = await start()
  await overJob(app, job)
  await using all = await follow(job, { key })
  const events = await all.ended()
  expect(events).toEqual(await rowsOf(job))
  await using rest = await follow(job, { key, last: 2 })
  expect(await rest.ended()).toEqual(events.slice(2))
  await using byQuery = await openStream(`${app.url}${pathOf(job)}?after=2`, { key })
  expect(await byQuery.ended()).toEqual(events.slice(2))
  await using none = await follow(job, { key, last: events.length })
  expect(await none.ended()).toEqual([])
})

test('twenty jobs, broken off anywhere and resumed by Last-Event-ID, give each event once', async () => {
  script = ['a', 'b', 'c']
  let cuts = 0
  const followed = async () => {
    const { job, key } = await start()
    const got: EventClient['events'] = []
    for (let isOver = false; !isOver; ) {
      await using stream = await follow(job, { key, last: got.at(-1)?.id ?? 0 })
      const most = 1 + Math.floor(Math.random() * 3)
      const enough = await stream
        .until(() => stream.events.filter(({ id }) => id !== undefined).length >= most)
        .then(
          () => true,
          () => false,
        )
      if (enough) cuts++
      got.push(
        ...stream.events.filter(({ id }) => id !== undefined).slice(0, enough ? most : undefined),
      )
      isOver = got.at(-1)?.data.status === 'completed'
    }
    expect(got).toEqual(await rowsOf(job))
  }
  await Promise.all(Array.from({ length: 20 }, followed))
  expect(cuts).toBeGreaterThan(20)
})

test('a conversation has the events of all its jobs in one order, and its stream stays open', async () => {
  script = ['Hello.']
  const { job, key, conversation } = await start()
  await overJob(app, job)
  await using stream = await follow(conversation, { key }, 'conversations')
  await stream.until(({ data }) => data.status === 'completed')
  const first = [...stream.events]
  const more = hold()
  script = ['Again', () => more.promise, '.']
  const second = await turn(app, {
    content: 'again',
    by: { kind: 'key', id: (await newKey()).id, personId: null },
    conversation,
  })
  const piece = await stream.until(({ type }) => type === 'delta')
  expect(piece.data).toEqual({ jobId: second, step: 1, at: 0, text: 'Again' })
  more.release()
  await stream.until(({ data }) => data.jobId === second && data.status === 'completed')
  const stored = stream.events.filter(({ id }) => id !== undefined)
  expect(stored.map(({ data }) => data.jobId)).toEqual([
    ...first.map(() => job),
    ...stored.slice(first.length).map(() => second),
  ])
  expect(stored.map(({ id }) => id)).toEqual(
    stored.map(({ id }) => id!).toSorted((one, other) => one - other),
  )
  const json = await app.send(
    'GET',
    `${pathOf(conversation, 'conversations')}?after=${first.at(-1)!.id}`,
    { key },
  )
  expect(
    json.body.events.map(({ seq, jobId, type }: Record<string, unknown>) => [seq, jobId, type]),
  ).toEqual(stored.slice(first.length).map(({ id, type }) => [id, second, type]))
  expect(json.body.nextSeq).toBe(stored.at(-1)!.id)
  await using resumed = await follow(
    conversation,
    { key, last: first.at(-1)!.id! },
    'conversations',
  )
  await resumed.until(({ data }) => data.status === 'completed')
  expect(resumed.events).toEqual(stored.slice(first.length))
})

test('events that another process wrote are read where nobody owns the workspace', async () => {
  const tenantId = await createWorkspace(app.workplace.db, 'Asleep')
  const { api_key } = await app.newKey(['api:read', 'workspace:use'], tenantId)
  script = ['x']
  const { job: model } = await start()
  await overJob(app, model)
  const [row] = await app.owner`insert into agent_job select (jsonb_populate_record(j,
      jsonb_build_object('id', gen_random_uuid(),
    'tenant_id', ${tenantId}::text, 'status', 'running', 'ended_at', null, 'next_event', 1))).*
      from agent_job j where id = ${model} returning id`
  await using stream = await follow(row!.id, { key: api_key })
  await app.owner`insert into agent_event (tenant_id, job_id, seq, at, type, data)
    values (${tenantId}, ${row!.id}, 1, now(), 'job.status', '{"status":"running"}')`
  expect(await stream.until(({ id }) => id === 1)).toMatchObject({
    type: 'job.status',
    data: { status: 'running' },
  })
})

test('what a copy numbers its events with is nowhere else, and who comes from there begins again', async () => {
  const more = hold()
  script = ['Before ', () => more.promise, 'and after.']
  const { job, key, conversation } = await start()
  const before = await eventually(
    () => rowsOf(job),
    (rows) => rows.some(({ type }) => type === 'step.started'),
  )
  const numbers = async (): Promise<number[]> =>
    (
      await app.owner`select conversation_seq from agent_event where job_id = ${job} order by seq`
    ).map(({ conversation_seq }) => Number(conversation_seq))
  const last = (await numbers()).at(-1)!
  await holdNow(app)
  more.release()
  await adoptNow(app)
  await overJob(app, job)
  const rows = await rowsOf(job)
  expect(rows.slice(0, before.length)).toEqual(before)
  expect(rows[before.length]!.id).toBe(before.length + 1_000_001)
  expect((await numbers())[before.length]!).toBeGreaterThan(last + 1_000_000_000)
  // The next one of the original, one ahead of the end, and one that this server has.
  for (const [seq, isThere] of [
    [before.length + 1, false],
    [rows.at(-1)!.id + 1, false],
    [before.length, true],
  ] as const) {
    const expected = isThere ? rows.slice(before.length) : rows
    await using stream = await follow(job, { key, last: seq })
    const events = await stream.ended()
    expect(events.filter(({ type }) => type !== 'resync')).toEqual(expected)
    expect(events[0]!.type === 'resync').toBe(!isThere)
    const { body } = await app.send('GET', `${pathOf(job)}?after=${seq}`, { key })
    expect(body).toMatchObject({ resync: !isThere, nextSeq: rows.at(-1)!.id, done: true })
    expect(body.events).toHaveLength(expected.length)
  }
  await using stream = await follow(conversation, { key, last: last + 1 }, 'conversations')
  await stream.until(({ data }) => data.status === 'completed')
  expect(stream.events.map(({ id }) => id)).toEqual([0, ...(await numbers())])
  const elsewhere = `${pathOf(conversation, 'conversations')}?after=${last + 1}`
  const { body } = await app.send('GET', elsewhere, { key })
  expect(body).toMatchObject({ resync: true, nextSeq: (await numbers()).at(-1) })
})

test('streams are refused as reads are', async () => {
  script = ['x']
  const { job, key } = await start()
  const { api_key: scopeless } = await app.newKey(['api:read'])
  for (const [request, status, code] of [
    [{ key: scopeless }, 403, 'missing_scope'],
    [{ key, last: 'x' }, 400, 'invalid_input'],
  ] as const) {
    await using stream = await follow(job, request)
    await stream.ended()
    expect([stream.response.status, JSON.parse(stream.text).error.code]).toEqual([status, code])
  }
  await overJob(app, job)
})

test('a credential has at most 20 streams at once', async () => {
  const more = hold()
  script = [() => more.promise, 'x']
  const { job, key } = await start()
  const streams = await Promise.all(Array.from({ length: 20 }, () => follow(job, { key })))
  expect(streams.map(({ response }) => response.status)).toEqual(streams.map(() => 200))
  const refused = await follow(job, { key })
  expect(refused.response.status).toBe(429)
  expect(refused.response.headers.get('retry-after')).toBe('5')
  await streams[0]![Symbol.asyncDispose]()
  const statuses = await eventually(
    async () => {
      const next = await follow(job, { key })
      streams.push(next)
      return next.response.status
    },
    (status) => status === 200,
  )
  expect(statuses).toBe(200)
  const { api_key: other } = await newKey()
  streams.push(await follow(job, { key: other }))
  expect(streams.at(-1)!.response.status).toBe(200)
  more.release()
  await Promise.all(streams.map((stream) => stream.ended()))
})
