/** Posts that come at once, to several servers, and to one that dies: each event begins one job. */
import { expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { overJob } from '#test/support/agent/agent'
import { brokenInvariants } from '#test/support/agent/invariants'
import { runsOf } from '#test/support/agent/schedules'
import { makeWebhookRule, post } from '#test/support/agent/webhook-rules'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { crash } from '#test/support/growth/story'
import { scriptedModel } from '#test/support/model/scripted-model'
import { sendWhileServersDie } from '#test/support/processes/dying-servers'

const options = {
  overrides: { thinker: scriptedModel(() => ({ text: 'Seen.' })) },
  env: { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9' },
}
const ruleIn = async (app: TestApp) => {
  const { id } = await app.newKey(['api:read', 'workspace:use'])
  return makeWebhookRule(
    { app, tenantId: app.tenantId },
    { by: { kind: 'key', id, personId: null } },
  )
}

test('fifty equal posts at once over two servers begin one job', async () => {
  await using stack = new AsyncDisposableStack()
  const db = stack.use(await freshDb())
  const [one, other] = [
    stack.use(await testApp({ database: db.options, ...options })),
    stack.use(await testApp({ database: db.options, ...options })),
  ]
  const rule = await ruleIn(one)
  const posts = Array.from({ length: 50 }, (_, nth) =>
    post(nth % 2 === 0 ? one.url : other.url, rule, { id: 'evt_1' }),
  )
  expect((await Promise.all(posts)).map(({ status }) => status)).toEqual(Array(50).fill(200))
  const runs = await runsOf({ app: one }, rule.id)
  expect(runs).toHaveLength(1)
  expect((await overJob(one, runs[0]!.id)).status).toBe('completed')
  const [row] = await one.owner`select received from webhook_rule where id = ${rule.id}`
  expect(row!.received).toBe(1)
})

test('posts of five events at once, sent again until a server has taken them while the servers die in turn, begin one job each', async () => {
  await using stack = new AsyncDisposableStack()
  const db = stack.use(await freshDb())
  const start = async (): Promise<TestApp> =>
    stack.use(await testApp({ database: db.options, ...options }))
  const servers = [await start(), await start()]
  const rule = await ruleIn(servers[0]!)
  const { statuses, crashes, server } = await sendWhileServersDie(
    start,
    servers,
    async (url, nth) => {
      return (await post(url, rule, { id: `evt_${nth % 5}` })).status
    },
  )
  expect([statuses, crashes]).toEqual([Array(50).fill(200), 2])
  const runs = await runsOf({ app: server }, rule.id)
  expect(runs).toHaveLength(5)
  for (const { id } of runs) expect((await overJob(server, id)).status).toBe('completed')
  expect(await brokenInvariants(server.owner)).toEqual([])
})

const points: [name: string, failpoint: string, before: number][] = [
  ['before its letter is committed', 'letter.deciding:operator.inbound.receive', 0],
  ['when it is committed, and the sender has heard nothing of it', 'agent.claimed', 1],
]

test.each(points)(
  'A18: a server dies %s; sent again, the post has begun one job',
  async (_, failpoint, before) => {
    await using stack = new AsyncDisposableStack()
    const db = stack.use(await freshDb())
    const stops = testStops()
    const start = async (): Promise<TestApp> =>
      stack.use(
        await testApp({
          database: db.options,
          env: options.env,
          overrides: { ...options.overrides, failpoints: stops.at },
        }),
      )
    const app = await start()
    const rule = await ruleIn(app)
    const stopped = stops.stopNext(failpoint)
    const first = post(app.url, rule, { id: 'evt_1' }).catch(() => undefined)
    const goOn = await stopped
    await crash(app)
    expect(await runsOf({ app }, rule.id)).toHaveLength(before)
    const next = await start()
    expect((await post(next.url, rule, { id: 'evt_1' })).status).toBe(200)
    const runs = await eventually(
      () => runsOf({ app: next }, rule.id),
      ({ length }) => length > 0,
    )
    expect((await overJob(next, runs[0]!.id)).status).toBe('completed')
    goOn()
    await first
    expect(await runsOf({ app: next }, rule.id)).toHaveLength(1)
    expect(await brokenInvariants(next.owner)).toEqual([])
  },
)
