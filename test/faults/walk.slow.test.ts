/** The whole job with the embedded database, and kill -9 of the server after every step. */
import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { newApiKey } from '#kernel/api-key'
import { findEmbedded } from '#postgres/start'
import { eventually, type Reply, type Send } from '#test/support/app'
import { temporaryFolder } from '#test/support/folder'
import { inMs } from '#test/support/growth/story'
import { startServer } from '#test/support/processes/server'

const profile = {
  goal: 'Book demos with operations leads',
  audience: 'operations leads at logistics firms',
  writing_dna: {
    proof: ['Cut late deliveries by 31% at Nordfracht', '412 depots use our dock scheduler'],
  },
}

/** A server that is killed and restarted after every command. */
const mortal = async (home: string) => {
  const options = { key: newApiKey(), home }
  let server = await startServer(options)
  const restart = async (): Promise<void> => {
    await server.kill()
    server = await startServer(options)
  }
  /** Succeeds eventually, as does a client that retries with the same key. */
  const persistent = (method: string, path: string, send: Send = {}): Promise<Reply<Answer>> =>
    eventually(
      () => server.send(method, path, send),
      ({ status }) => status !== 503,
    )
  let steps = 0
  return {
    send: persistent,
    /** How many steps were taken; each has its own Idempotency-Key. */
    get steps(): number {
      return steps
    },
    async step(method: string, path: string, body?: unknown): Promise<Reply<Answer>> {
      const headers = { 'idempotency-key': `step ${++steps}` }
      const reply = await persistent(method, path, {
        headers,
        ...(body === undefined ? {} : { body }),
      })
      await restart()
      return reply
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

interface Answer {
  batch: { id: string; status: string; delivered: number; items: { id: string; body: string }[] }
  item: { id: string; status: string; post_at: string | null }
  items: { id: string; body: string }[]
}

/**
 * A post whose server died while sending it is looked for until the send must have ended, and then
 * three times more.
 */
const DOUBT_MS = 60_000

test('every step succeeds, and each post is on the network once', async () => {
  await using home = await temporaryFolder()
  await using life = await mortal(home.path)
  expect((await life.step('PUT', 'profile', profile)).status).toBe(200)
  const created = await life.step('POST', 'batches', { count: 3, focus: 'late deliveries' })
  expect(created.status).toBe(201)
  const ready = await eventually(
    () => life.send('GET', `batches/${created.body.batch.id}`),
    ({ body }) => ['ready', 'failed'].includes(body.batch.status),
  )
  expect(ready.body.batch).toMatchObject({ status: 'ready', delivered: 3 })
  const [now, due, rejected] = ready.body.batch.items.map(({ id }) => id)
  for (const id of [now, due])
    expect((await life.step('POST', `items/${id}/approve`)).body.item.status).toBe('approved')
  expect((await life.step('POST', `items/${rejected}/reject`)).body.item.status).toBe('rejected')
  expect(
    (await life.step('POST', `items/${due}/schedule`, { post_at: inMs(500) })).body.item.post_at,
  ).not.toBeNull()
  const posted = await life.step('POST', `items/${now}/post-now`)
  expect([posted.status, posted.body.item.status]).toEqual([200, 'posted'])
  const replay = await life.send('POST', `items/${now}/post-now`, {
    headers: { 'idempotency-key': `step ${life.steps}` },
  })
  expect([replay.text, replay.headers.get('idempotency-replayed')]).toEqual([posted.text, 'true'])
  const listed = await eventually(
    () => life.send('GET', 'items?status=posted'),
    ({ body }) => body.items.length === 2,
    DOUBT_MS,
  )
  const target = (await findEmbedded(home.path))!
  await using stack = new AsyncDisposableStack()
  const sql = postgres({ ...target, max: 1 })
  stack.defer(() => sql.end())
  const network = await sql<{ text: string }[]>`select text from sandbox.posts`
  expect(network.map(({ text }) => text).sort()).toEqual(
    listed.body.items.map(({ body }) => body).sort(),
  )
}, 120_000)
