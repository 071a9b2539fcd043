/** Schedules by the database's clock: each time has one run, whatever the clocks do. */
import { beforeEach, expect, test } from 'bun:test'
import { messagesIn, overJob } from '#test/support/agent/agent'
import { makeSchedule, runsOf, scheduleOf } from '#test/support/agent/schedules'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { steppedDb } from '#test/support/database/clock'
import { scriptedModel } from '#test/support/model/scripted-model'
import { useEach } from '#test/support/use'

const db = useEach(steppedDb)
const servers = useEach(() => new AsyncDisposableStack())
let app: TestApp
const start = async () =>
  servers.use(
    await testApp({ database: db.options, model: scriptedModel(() => ({ text: 'Looked.' })) }),
  )
beforeEach(async () => {
  app = await start()
})

const place = () => ({ app, tenantId: app.tenantId })
const owner = async () =>
  ({
    kind: 'key',
    id: (await app.newKey(['api:read', 'workspace:use'])).id,
    personId: null,
  }) as const

/** A schedule at half past two in Berlin, made at a time of the database's clock. */
const nightly = async (now: string): Promise<string> => {
  await db.clock.set(new Date(now))
  const { id } = await eventually(
    async () =>
      makeSchedule(place(), {
        by: await owner(),
        cron: '30 2 * * *',
        now: new Date(now),
        timeZone: 'Europe/Berlin',
      }),
    Boolean,
  )
  return id
}
const nextOf = async (id: string) => (await scheduleOf(place(), id))!.next_at!.toISOString()
const reached = async (
  id: string,
  time: string,
  { runs, next }: { runs: number; next: string },
) => {
  await db.clock.set(new Date(time))
  await eventually(
    () => nextOf(id),
    (found) => found === next,
  )
  const jobs = await runsOf(place(), id)
  expect(jobs).toHaveLength(runs)
  for (const job of jobs) expect((await overJob(app, job.id)).status).toBe('completed')
}

test('a time runs once on the night without it and once on the night that has it twice', async () => {
  const id = await nightly('2027-03-27T12:00:00Z')
  expect(await nextOf(id)).toBe('2027-03-28T01:00:00.000Z')
  await reached(id, '2027-03-28T01:00:05Z', { runs: 1, next: '2027-03-29T00:30:00.000Z' })
  await reached(id, '2027-10-30T00:45:00Z', { runs: 2, next: '2027-10-31T00:30:00.000Z' })
  await reached(id, '2027-10-31T00:30:05Z', { runs: 3, next: '2027-11-01T01:30:00.000Z' })
  // The hour comes again, and the clock even steps back into it.
  for (const again of ['2027-10-31T01:30:05Z', '2027-10-31T00:29:00Z', '2027-10-31T01:40:00Z'])
    await reached(id, again, { runs: 3, next: '2027-11-01T01:30:00.000Z' })
})

test('a server that was down for less than an hour makes up for one time; after longer it says what it missed', async () => {
  const id = await nightly('2027-01-10T12:00:00Z')
  await app[Symbol.asyncDispose]()
  await db.clock.set(new Date('2027-01-11T02:20:00Z'))
  app = await start()
  await reached(id, '2027-01-11T02:21:00Z', { runs: 1, next: '2027-01-12T01:30:00.000Z' })
  await app[Symbol.asyncDispose]()
  await db.clock.set(new Date('2027-01-14T08:00:00Z'))
  app = await start()
  await reached(id, '2027-01-14T08:00:01Z', { runs: 1, next: '2027-01-15T01:30:00.000Z' })
  const said = await messagesIn(app, (await scheduleOf(place(), id))!)
  expect(said.at(-1)).toMatchObject({
    role: 'notice',
    content: expect.stringContaining('2027-01-12T01:30:00.000Z'),
  })
})
