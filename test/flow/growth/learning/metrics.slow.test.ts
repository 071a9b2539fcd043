/** Metrics of posts, read from the network as time passes; the tests step the database's clock. */
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { ConnectionOptions } from '#store/engine/db'
import { type TestFailpoints, testFailpoints } from '#test/support/actors/failpoints'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { type SteppedDatabase, steppedDb } from '#test/support/database/clock'
import { setPlan, setUsed, wakeActor } from '#test/support/database/writes'
import { crash, newStory, type Story } from '#test/support/growth/story'
import { use, useEach } from '#test/support/use'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const start = (database: ConnectionOptions, failpoints: TestFailpoints) =>
  // Actors go idle at once, so that the sweep wakes those that are due, as it does after hours
  // without a request.
  testApp({ database, overrides: { failpoints: failpoints.at, idleMs: 30, sweepMs: 20 } })

/** Those of the test that runs. */
let db: SteppedDatabase
let app: TestApp

const posted = async (story: Story, text?: string): Promise<string> => {
  const id = await story.approved(text)
  expect((await story.send('POST', `items/${id}/post-now`)).status).toBe(200)
  return id
}
const metricsOf = async (story: Story, id: string) =>
  ((await story.item(id)) as unknown as { metrics: Record<string, number> | null }).metrics
const workOf = async ({ tenantId }: Story) =>
  (
    await app.owner<
      { state: string; run_at: Date; payload: { waits?: object; reserved?: object } }[]
    >`
    select state, run_at, payload from work where tenant_id = ${tenantId} and kind = 'metrics'`
  )[0]
const snapshots = async (id: string) =>
  app.owner`select at, impressions from item_metric where item_id = ${id} order by at`
/** Lets time pass, then waits until everything due has been read. */
const later = async (story: Story, ms: number): Promise<void> => {
  await db.clock.pass(ms)
  await eventually(
    async () => ({ work: await workOf(story), now: new Date(await db.clock.now()) }),
    ({ work, now }) => work === undefined || (work.state === 'queued' && work.run_at > now),
  )
}

describe('as time passes', () => {
  const stepped = use(steppedDb)
  const server = use(() => start(stepped.options, testFailpoints()))
  beforeAll(() => {
    db = stepped
    app = server
  })

  test('metrics are read from ten minutes after a post, grow, and are shown with the item', async () => {
    const story = await newStory(app)
    expect(await workOf(story)).toBeUndefined()
    const id = await posted(story)
    expect(await metricsOf(story, id)).toBeNull()
    await later(story, HOUR)
    const first = (await metricsOf(story, id))!
    expect(first.impressions).toBeGreaterThan(0)
    await later(story, DAY)
    const second = (await metricsOf(story, id))!
    expect(second.impressions).toBeGreaterThan(first.impressions!)
    expect(new Date(second.at!).getTime()).toBeGreaterThan(new Date(first.at!).getTime())
    expect(Object.keys(second).toSorted()).toEqual([
      'at',
      'clicks',
      'impressions',
      'likes',
      'quotes',
      'replies',
      'reposts',
    ])
  })

  test('a snapshot is kept if a number has changed; of earlier days only the last one is kept', async () => {
    const story = await newStory(app)
    const id = await posted(story)
    await later(story, HOUR)
    for (let hour = 0; hour < 6; hour++) await later(story, HOUR)
    expect((await snapshots(id)).length).toBeGreaterThan(4)
    await later(story, 20 * DAY)
    const settled = await snapshots(id)
    const days = settled.map(({ at }) => (at as Date).toISOString().slice(0, 10))
    expect(new Set(days).size).toBe(days.length)
    // The network counts nothing new from here on.
    await later(story, 2 * DAY)
    expect(await snapshots(id)).toEqual(settled)
  })

  test('nothing is read or charged while billing is not in order', async () => {
    const story = await newStory(app)
    const id = await posted(story)
    const bill = (state: string) => setPlan(app, story.tenantId, { billing: state })
    await bill('billing_suspended')
    await later(story, HOUR)
    expect([await metricsOf(story, id), await story.used('reads_free')]).toEqual([null, 0])
    await bill('ok')
    await later(story, HOUR)
    expect((await metricsOf(story, id))!.impressions).toBeGreaterThan(0)
  })

  test('a spent budget stops reads until the next day, while posting goes on', async () => {
    const story = await newStory(app)
    const id = await posted(story)
    const day = new Date(await db.clock.now()).toISOString().slice(0, 10)
    const midnight = new Date(`${day}T00:00:00Z`).getTime() + DAY
    if (midnight - (await db.clock.now()) < 2 * HOUR) await db.clock.set(new Date(midnight + HOUR))
    const today = new Date(await db.clock.now()).toISOString().slice(0, 10)
    const next = new Date(`${today}T00:00:00Z`).getTime() + DAY
    await setUsed(app, story.tenantId, { key: 'reads_free', used: 5000, period: today })
    await later(story, HOUR)
    expect(await metricsOf(story, id)).toBeNull()
    expect(Math.abs((await workOf(story))!.run_at.getTime() - next)).toBeLessThan(2_000)
    await posted(story)
    await later(story, next - (await db.clock.now()) + 60_000)
    expect((await metricsOf(story, id))!.impressions).toBeGreaterThan(0)
  })

  test('a disconnected account is not read until it is connected again', async () => {
    const story = await newStory(app)
    const id = await posted(story)
    expect((await story.send('DELETE', 'connection')).status).toBe(200)
    await later(story, HOUR)
    expect([await workOf(story), await metricsOf(story, id)]).toEqual([undefined, null])
    const { body } = await app.send('GET', 'connections', { key: story.key })
    expect(body.connections).toEqual([])
    const { connectAccount } = await import('#ops/operator/admin/workspaces')
    await connectAccount(app.workplace.world, story.tenantId, {
      network: 'sandbox',
      externalId: story.account,
      handle: 'back',
    })
    await later(story, 1_000)
    expect((await metricsOf(story, id))!.impressions).toBeGreaterThan(0)
  })

  test('an account that the network no longer knows is disconnected, and nothing is charged', async () => {
    const story = await newStory(app)
    await posted(story)
    await app.owner`update item set account_external_id = 'gone' where tenant_id = ${story.tenantId}`
    await app.owner`update connection set external_id = 'gone' where tenant_id = ${story.tenantId}`
    await later(story, HOUR)
    expect((await story.send('GET', 'connection')).body.connection.connected).toBeFalse()
    expect(await story.used('reads_free')).toBe(0)
  })
})

// One of each a test: what an earlier one left due would pass the failpoints as well.
describe('stopped on the way', () => {
  let points: TestFailpoints
  afterEach(() => {
    for (const point of ['metrics.claimed', 'metrics.read']) points.release(point)
  })
  const stepped = useEach(steppedDb)
  beforeEach(() => {
    points = testFailpoints()
  })
  const server = useEach(() => start(stepped.options, points))
  beforeEach(() => {
    db = stepped
    app = server
  })

  test('a claim that passed the gate before billing was suspended does not take work that falls due after', async () => {
    const story = await newStory(app)
    const id = await posted(story)
    const lockOnWork = (mode: string) =>
      eventually(
        () =>
          app.owner`select 1 from pg_locks where relation = 'work'::regclass and mode = ${mode}
            and not granted
            and database = (select oid from pg_database where datname = current_database())`,
        (found) => found.length > 0,
      )
    points.arm('letter.deciding:recover', 'hang')
    await eventually(
      () => app.owner`select owner from actor where tenant_id = ${story.tenantId}`,
      ([actor]) => actor!.owner === null,
    )
    await wakeActor(app, story.tenantId)
    await points.reached('letter.deciding:recover')
    const [looking, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const locked = app.owner.begin(async (sql) => {
      await sql`lock table work in access exclusive mode`
      looking.resolve()
      await over.promise
    })
    await lockOnWork('AccessExclusiveLock')
    points.release('letter.deciding:recover')
    await looking.promise
    // The claim has passed the gate and waits to look for due work.
    await lockOnWork('AccessShareLock')
    await setPlan(app, story.tenantId, { billing: 'billing_suspended' })
    await db.clock.pass(HOUR)
    over.resolve()
    await locked
    await later(story, 0)
    expect([await metricsOf(story, id), await story.used('reads_free')]).toEqual([null, 0])
  })

  test('the kill switch stops reads and recalls the running one, which is charged once', async () => {
    const story = await newStory(app)
    const id = await posted(story)
    points.arm('metrics.claimed', 'hang')
    await db.clock.pass(HOUR)
    await points.reached('metrics.claimed')
    expect(await story.used('reads_free')).toBe(1)
    expect((await story.send('POST', 'automation/pause-all')).status).toBe(200)
    points.release('metrics.claimed')
    await db.clock.pass(HOUR)
    await posted(story)
    expect(await metricsOf(story, id)).toBeNull()
    expect((await story.send('POST', 'automation/resume-all')).status).toBe(200)
    await later(story, HOUR)
    expect((await metricsOf(story, id))!.impressions).toBeGreaterThan(0)
    expect(await story.used('reads_free')).toBeLessThanOrEqual(3)
  })

  test.each(['metrics.claimed', 'metrics.read'])(
    'a read is repeated, and charged once, after a process dies at %s',
    async (point) => {
      const story = await newStory(app)
      const id = await posted(story)
      points.arm(point, 'hang')
      await db.clock.pass(HOUR)
      await points.reached(point)
      await crash(app)
      await using second = await start(db.options, testFailpoints())
      const again = story.at(second)
      const metrics = await eventually(
        () => metricsOf(again, id),
        (found) => found !== null,
      )
      expect(metrics!.impressions).toBeGreaterThan(0)
      points.release(point)
      expect(await story.used('reads_free')).toBe(1)
      expect(await snapshots(id)).toHaveLength(1)
    },
  )
})
