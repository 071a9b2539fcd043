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
import { useSuccession } from '#test/support/agent/succession'
import { eventually } from '#test/support/app'
import { scriptedModel } from '#test/support/model/scripted-model'

const points: [name: string, failpoints: [string, number?][], runs: number][] = [
  ['when it is decided and not committed', [['agent.schedule.firing']], 0],
  ['just before the commit', [['agent.schedule.firing'], ['letter.deciding:claim']], 0],
  ['when it is committed and its run has begun', [['agent.claimed']], 1],
]

const stops = testStops()
const processes = useSuccession({
  model: scriptedModel(() => ({ text: 'Looked.' })),
  overrides: { failpoints: stops.at },
})

/** A schedule whose process has died there, and the next process. */
const died = async ([first, ...further]: [string, number?][], before: number) => {
  const app = processes.running
  const { tenantId } = await app.newWorkspace()
  const { id: keyId, api_key: key } = await app.newKey([...scopes], tenantId)
  const by = { kind: 'key', id: keyId, personId: null } as const
  const { id } = await makeSchedule({ app, tenantId }, { by })
  let stopped = stops.stopNext(...first!)
  await comeDue({ app, tenantId }, id)
  for (const following of further) {
    const goOn = await stopped
    stopped = stops.stopNext(...following)
    goOn()
  }
  const goOn = await stopped
  expect(await runsOf({ app }, id)).toHaveLength(before)
  return { id, key, tenantId, next: await processes.die(), goOn }
}

test.each(points)('A17, %s', async (_, failpoints, before) => {
  const { id, tenantId, next, goOn } = await died(failpoints, before)
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
    const { id, key, next, goOn } = await died(failpoints, before)
    expect((await next.send('DELETE', `/api/v1/agent/schedules/${id}`, { key })).status).toBe(200)
    goOn()
    const runs = await runsOf({ app: next }, id)
    expect(runs.length).toBeWithin(before, 2)
    for (const run of runs)
      expect(await overJob(next, run.id)).toMatchObject({ status: 'completed' })
    expect(
      await next.owner`select 1 from work where kind = 'agent_schedule' and ref_id = ${id}`,
    ).toHaveLength(0)
    expect(await brokenInvariants(next.owner)).toEqual([])
  },
)

test('A17, its run is cancelled when it has begun: the next time has its run', async () => {
  const { id, key, tenantId, next, goOn } = await died([['agent.claimed']], 1)
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
