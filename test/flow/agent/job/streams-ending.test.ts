/**
 * How streams end: with their credential, with a client that does not read, and with their process.
 */
import { expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { MOST_BEHIND } from '#edge/event-body'
import type { Thinker } from '#port/model/thinker'
import { jobOf, turn } from '#test/support/agent/agent'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { openStream } from '#test/support/http/event-stream'
import { useApp } from '#test/support/use'

/** Says nothing until it is told to stop. */
const silentModel: Thinker = {
  think: (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    }),
}
const overrides = { thinker: silentModel, streamTimes: { commentMs: 100, lookMs: 20 } }
const app = useApp({ overrides })
const patient = useApp({
  overrides: { ...overrides, streamTimes: { commentMs: 60_000, lookMs: 20 } },
})

const start = async (at: TestApp) => {
  const { id: keyId, api_key: key } = await at.newKey(['api:read', 'workspace:use'])
  const job = await turn(at, { content: 'hi', by: { kind: 'key', id: keyId, personId: null } })
  await eventually(
    async () =>
      (await at.owner`select 1 from agent_event where job_id = ${job} and type = 'step.started'`)
        .length,
    (count) => count > 0,
  )
  const { conversation_id } = await jobOf(at, job)
  return {
    key,
    keyId,
    job: { id: job, conversation_id },
    url: `${at.url}/api/v1/agent/jobs/${job}/events`,
  }
}

test('comments keep a stream without news open', async () => {
  const { url, key } = await start(app)
  await using stream = await openStream(url, { key })
  await eventually(
    () => stream.comments,
    (count) => count >= 3,
  )
  expect(stream.comments).toBeGreaterThanOrEqual(3)
  expect(stream.events.map(({ type }) => type)).not.toContain('message')
})

test('the stream of a revoked key ends', async () => {
  const { url, key, keyId } = await start(app)
  const { api_key: other } = await app.newKey(['api:read', 'workspace:use'])
  await using stream = await openStream(url, { key })
  await using others = await openStream(url, { key: other })
  await app.owner`update api_key set revoked_at = now() where id = ${keyId}`
  await stream.ended()
  const comments = others.comments
  await eventually(
    () => others.comments,
    (count) => count > comments,
  )
  expect(others.comments).toBeGreaterThan(comments)
})

test('the stream of a job that was removed ends', async () => {
  const { url, key, job } = await start(app)
  await using stream = await openStream(url, { key })
  await app.owner`delete from agent_job where id = ${job.id}`
  await stream.ended()
})

/** A client that stops reading after the headers. */
const openAndPause = async ({ url, key }: { url: string; key: string }) => {
  const { port, pathname, hostname } = new URL(url)
  const read = { bytes: 0, text: '' }
  const closed = Promise.withResolvers<void>()
  const { promise, resolve } = Promise.withResolvers<Socket>()
  const socket = connect(Number(port), hostname, () => {
    socket.write(
      `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\nAccept: text/event-stream\r\n\r\n`,
    )
  })
  socket.on('data', (piece) => {
    read.bytes += piece.length
    read.text = (read.text + piece.toString('latin1')).slice(-20)
  })
  // Once: what was sent right after the headers may arrive when it reads again.
  socket.once('data', () => {
    socket.pause()
    resolve(socket)
  })
  socket.on('close', () => closed.resolve())
  return { socket: await promise, read, closed: closed.promise }
}

test('a client that does not read is dropped, and others get everything', async () => {
  const { url, key, job } = await start(patient)
  const slow = await openAndPause({ url, key })
  await using quick = await openStream(url, { key })
  const text = 'x'.repeat(MOST_BEHIND / 4)
  let at = 0
  // More than the buffers of the system hold.
  for (let sent = 0; sent < 100; sent++) {
    patient.workplace.bus.text(job, { step: 1, at, text })
    at += text.length
    await quick.until(({ data }) => data.at === at - text.length)
  }
  expect(quick.events.filter(({ type }) => type === 'delta')).toHaveLength(100)
  slow.socket.resume()
  // The last chunk of an answer that has ended.
  await eventually(
    () => slow.read.text,
    (end) => end.endsWith('0\r\n\r\n'),
  )
  expect(slow.read.text).toEndWith('0\r\n\r\n')
  expect(slow.read.bytes).toBeLessThan(at)
  slow.socket.destroy()
})

test('streams end with a last comment when the process stops, and hold it up by nothing', async () => {
  const stopping = await testApp({
    overrides: { ...overrides, streamTimes: { commentMs: 60_000, lookMs: 20 } },
  })
  const { url, key, job } = await start(stopping)
  await using stream = await openStream(url, { key })
  await using whole = await openStream(
    url.replace(`jobs/${job.id}`, `conversations/${job.conversation_id}`),
    { key },
  )
  await stopping[Symbol.asyncDispose]()
  for (const one of [stream, whole]) {
    await one.ended()
    expect(one.text).toEndWith('\n\n:\n\n')
    expect(one.comments).toBe(1)
  }
})
