import { describe, expect, test } from 'bun:test'
import { createLog } from '#kernel/log'
import { serveMetrics } from '#server/metrics/own-port'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { newStory } from '#test/support/growth/story'
import { type Samples, samplesOf } from '#test/support/http/metrics'
import { use } from '#test/support/use'

const TOKEN = 'a-token-of-some-length'
const lines: string[] = []
const log = createLog('trace', { write: (line) => lines.push(line) })
const app = use(() => testApp({ env: { METRICS_TOKEN: TOKEN }, log }))
const closed = use(testApp)

const read = (of: TestApp = app, key: string | null = TOKEN, path = '/metrics') =>
  of.send('GET', path, { key })
/** The page is made once a second. */
const until = (holds: (samples: Samples) => boolean) =>
  eventually(async () => samplesOf((await read()).text), holds)

describe('/metrics on the main port', () => {
  test('does not exist without a token that was set', async () => {
    expect((await read(closed)).status).toBe(404)
    expect((await read(closed, closed.key)).status).toBe(404)
  })

  test('is for those alone who send the token in its header', async () => {
    expect((await read()).status).toBe(200)
    expect((await read()).headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
    for (const key of [null, app.key, `${TOKEN}x`, TOKEN.slice(1)])
      expect([key, (await read(app, key)).status]).toEqual([key, 401])
    expect((await app.send('POST', '/metrics', { key: TOKEN })).status).toBe(405)
  })

  test.each(['token', 'access_token', 'x'])('refuses a query, such as %s', async (name) => {
    for (const key of [TOKEN, null]) {
      const { status, text } = await read(app, key, `/metrics?${name}=${TOKEN}`)
      expect(status).toBe(400)
      expect(text).not.toContain(TOKEN)
    }
    expect(lines.join('')).not.toContain(TOKEN)
  })
})

describe('a port of its own', () => {
  const page = async () => ({ body: new Blob(['tendril_ready 1\n']), type: 'text/plain' })
  const serve = (token?: string) =>
    serveMetrics({ own: { port: 0, host: '127.0.0.1' }, token }, page, createLog('silent'))
  const get = (port: number, path = '/metrics', init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, init)

  test('serves the page and nothing else', async () => {
    await using own = serve()
    expect(await (await get(own.port)).text()).toBe('tendril_ready 1\n')
    expect((await get(own.port, '/health')).status).toBe(404)
    expect((await get(own.port, '/metrics', { method: 'POST' })).status).toBe(405)
    expect((await get(own.port, '/metrics?token=x')).status).toBe(400)
  })

  test('asks for the token, if there is one', async () => {
    await using own = serve(TOKEN)
    expect((await get(own.port)).status).toBe(401)
    const authorization = `Bearer ${TOKEN}`
    expect((await get(own.port, '/metrics', { headers: { authorization } })).status).toBe(200)
  })

  test('that is taken is refused by the name of its variable', async () => {
    await using own = serve()
    const settings = { own: { port: own.port, host: '127.0.0.1' }, token: undefined }
    expect(() => serveMetrics(settings, page, createLog('silent'))).toThrow('METRICS_PORT')
  })
})

test('what happens is counted, by names of the product alone', async () => {
  const story = await newStory(app)
  const before = samplesOf((await read()).text)
  const id = await story.scheduled(1)
  await story.settled(id, 'posted')
  expect((await story.send('GET', 'items/nothing')).status).toBe(400)
  const posted = 'tendril_posts_total{network="sandbox",outcome="posted"}'
  const after = await until((samples) => (samples[posted] ?? 0) > (before[posted] ?? 0))
  const grew = (name: string) => (after[name] ?? 0) - (before[name] ?? 0)
  expect(grew('tendril_letters_total{letter="growth.items.approve",outcome="done"}')).toBe(1)
  expect(grew('tendril_letters_total{letter="growth.items.schedule",outcome="done"}')).toBe(1)
  expect(grew('tendril_work_claimed_total{kind="send"}')).toBe(1)
  expect(after['tendril_work_running{kind="send"}']).toBe(0)
  expect(grew('tendril_post_lateness_seconds_count')).toBe(1)
  expect(grew('tendril_http_answers_total{status="4xx"}')).toBeGreaterThan(0)
  expect(grew('tendril_pool_statements_total{pool="reads"}')).toBeGreaterThan(0)
  const { text } = await read()
  for (const secret of [story.tenantId, story.account, id, story.key, app.tenantId, TOKEN])
    expect(text).not.toContain(secret)
})
