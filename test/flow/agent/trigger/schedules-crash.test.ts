/**
 * A17: a process dies when a schedule has fired. The time has one run, whether the commit came or
 * not; what is cancelled then has no more.
 */
import { expect, test } from 'bun:test'
import { scopes } from '#kernel/scopes'
import { testStops } from '#test/support/actors/stops'
import { overJob } from '#test/support/agent/agent'
import { brokenInvariants } from '#test/support/agent/invariants'
import { comeDue, makeSchedule, runsOf } from '#test/support/agent/schedules'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { crash } from '#test/support/growth/story'
import { scriptedModel } from '#test/support/model/scripted-model'

const points: [name: string, failpoints: [string, number?][], runs: number][] = [
  ['when it is decided and not committed', [['agent.schedule.firing']], 0],
  ['just before the commit', [['agent.schedule.firing'], ['letter.deciding:claim']], 0],
  ['when it is committed and its run has begun', [['agent.claimed']], 1],
]

/** A schedule whose process has died there, and the start of another. */
const died = async (
  stack: AsyncDisposableStack,
  [first, ...further]: [string, number?][],
  before: number,
) => {
  const db = stack.use(await freshDb())
  const stops = testStops()
  const start = async (): Promise<TestApp> =>
    stack.use(
      await testApp({
        database: db.options,
        overrides: { failpoints: stops.at, thinker: scriptedModel(() => ({ text: 'Looked.' })) },
        env: { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9' },
      }),
    )
  const app = await start()
  const place = { app, tenantId: app.tenantId }
  const { id: keyId, api_key: key } = await app.newKey([...scopes])
  const { id } = await makeSchedule(place, { by: { kind: 'key', id: keyId, personId: null } })
  let stopped = stops.stopNext(...first!)
  await comeDue(place, id)
  for (const following of further) {
    const goOn = await stopped
    stopped = stops.stopNext(...following)
    goOn()
  }
  const goOn = await stopped
  expect(await runsOf({ app }, id)).toHaveLength(before)
  await crash(app)
  return { id, key, tenantId: app.tenantId, start, goOn }
}

test.each(points)('A17, %s', async (_, failpoints, before) => {
  await using stack = new AsyncDisposableStack()
  const { id, tenantId, start, goOn } = await died(stack, failpoints, before)
  const next = await start()
  const over = async (count: number) => {
    const runs = await eventually(
      () => runsOf({ app: next }, id),
      ({ length }) => length === count,
    )
    for (const run of runs)
      expect(await overJob(next, run.id)).toMatchObject({ status: 'completed' })
  }
  await over(1)
  // If the process was only stopped it goes on now, and changes nothing.
  goOn()
  await comeDue({ app: next, tenantId }, id)
  await over(2)
  expect(await brokenInvariants(next.owner)).toEqual([])
})

test.each(points)(
  'A17, cancelled after it, %s: it has one run at most, and no further one',
  async (_, failpoints, before) => {
    await using stack = new AsyncDisposableStack()
    const { id, key, start, goOn } = await died(stack, failpoints, before)
    const next = await start()
    expect((await next.send('DELETE', `/api/v1/agent/schedules/${id}`, { key })).status).toBe(200)
    goOn()
    const runs = await runsOf({ app: next }, id)
    expect(runs.length).toBeWithin(before, 2)
    for (const run of runs)
      expect(await overJob(next, run.id)).toMatchObject({ status: 'completed' })
    expect(await next.owner`select 1 from work where kind = 'agent_schedule'`).toHaveLength(0)
    expect(await brokenInvariants(next.owner)).toEqual([])
  },
)

test('A17, its run is cancelled when it has begun: the next time has its run', async () => {
  await using stack = new AsyncDisposableStack()
  const { id, key, tenantId, start, goOn } = await died(stack, [['agent.claimed']], 1)
  const next = await start()
  const [run] = await runsOf({ app: next }, id)
  const { status, body } = await next.send('POST', `/api/v1/agent/jobs/${run!.id}/cancel`, { key })
  expect(status).toBe(200)
  expect(['cancelled', 'completed']).toContain(body.job.status)
  goOn()
  await comeDue({ app: next, tenantId }, id)
  const [, second] = await eventually(
    () => runsOf({ app: next }, id),
    ({ length }) => length === 2,
  )
  expect(await overJob(next, second!.id)).toMatchObject({ status: 'completed' })
  expect(await brokenInvariants(next.owner)).toEqual([])
})
