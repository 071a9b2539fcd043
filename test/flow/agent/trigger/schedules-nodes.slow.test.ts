/**
 * Two servers on one database whose clock a test sets: each time of a schedule has one run,
 * whichever of them is alive.
 */
import { expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { brokenInvariants } from '#test/support/agent/invariants'
import { makeSchedule, runsOf, scheduleOf } from '#test/support/agent/schedules'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { steppedDb } from '#test/support/database/clock'
import { crash } from '#test/support/growth/story'
import { scriptedModel } from '#test/support/model/scripted-model'

const QUARTER_MS = 15 * 60_000
const BEGINNING = Date.parse('2027-03-28T00:00:00Z')

/** Where the server that fires dies; none: it does not. */
const deaths = [
  undefined,
  'agent.schedule.firing',
  'agent.claimed',
  undefined,
  'letter.deciding:claim',
  'agent.thought',
  undefined,
] as const

test('four schedules have one run for each of their times, while the servers that fire them die', async () => {
  await using stack = new AsyncDisposableStack()
  const db = stack.use(await steppedDb())
  const stops = testStops()
  const overrides = { thinker: scriptedModel(() => ({ text: 'Looked.' })), failpoints: stops.at }
  const env = { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9' }
  const start = async (): Promise<TestApp> =>
    stack.use(await testApp({ database: db.options, overrides, env }))
  const servers = [await start(), await start()]
  await db.clock.set(new Date(BEGINNING))
  const all = await Promise.all(
    Array.from({ length: 4 }, async (_, nth) => {
      const app = servers[nth % 2]!
      const { tenantId } = await app.newWorkspace()
      const { id: key } = await app.newKey(['api:read', 'workspace:use'], tenantId)
      const by = { kind: 'key', id: key, personId: null } as const
      return (
        await makeSchedule(
          { app, tenantId },
          { by, cron: '*/15 * * * *', now: new Date(BEGINNING) },
        )
      ).id
    }),
  )
  for (const [nth, death] of deaths.entries()) {
    const stopped = death && stops.stopNext(death)
    const due = BEGINNING + (nth + 1) * QUARTER_MS
    await db.clock.set(new Date(due + 1_000))
    if (stopped) {
      const goOn = await stopped
      await Promise.all(servers.map(crash))
      servers.splice(0, 2, ...(await Promise.all([start(), start()])))
      goOn()
    }
    for (const id of all)
      await hasRun({ app: servers[nth % 2]! }, id, { times: nth + 1, next: due + QUARTER_MS })
  }
  expect(await brokenInvariants(servers[0]!.owner)).toEqual([])
})

const hasRun = async (
  at: { app: TestApp },
  id: string,
  { times, next }: { times: number; next: number },
): Promise<void> => {
  await eventually(
    () => scheduleOf(at, id),
    (schedule) => schedule?.next_at?.getTime() === next,
  )
  const runs = await eventually(
    () => runsOf(at, id),
    (some) => some.every(({ status }) => status === 'completed'),
  )
  expect([id, runs.length, (await scheduleOf(at, id))!.missed]).toEqual([id, times, 0])
}
