/** A17: a process dies when a schedule has fired. The time has one run, whether the commit came or not. */
import { expect, test } from 'bun:test'
import { overJob } from '#test/support/agent'
import { brokenInvariants } from '#test/support/agent-invariants'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/db'
import { comeDue, makeSchedule, runsOf } from '#test/support/schedules'
import { scriptedModel } from '#test/support/scripted-model'
import { testStops } from '#test/support/stops'
import { crash } from '#test/support/story'

const points: [name: string, failpoints: [string, number?][], runs: number][] = [
  ['when it is decided and not committed', [['agent.schedule.firing']], 0],
  ['just before the commit', [['agent.schedule.firing'], ['letter.deciding:claim']], 0],
  ['when it is committed and its run has begun', [['agent.claimed']], 1],
]

test.each(points)('%s', async (_, [first, ...further], before) => {
  await using stack = new AsyncDisposableStack()
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
  const { id: key } = await app.newKey(['api:read', 'workspace:use'])
  const { id } = await makeSchedule(place, { by: { kind: 'key', id: key, personId: null } })
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
  const next = await start()
  const over = async (count: number) => {
    const runs = await eventually(
      () => runsOf({ app: next }, id),
      ({ length }) => length === count,
    )
    for (const run of runs) expect(await overJob(next, run.id)).toMatchObject({ status: 'completed' })
  }
  await over(1)
  // If the process was only stopped it goes on now, and changes nothing.
  goOn()
  await comeDue({ app: next, tenantId: app.tenantId }, id)
  await over(2)
  expect(await brokenInvariants(next.owner)).toEqual([])
})
