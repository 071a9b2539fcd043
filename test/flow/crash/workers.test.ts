/** P4, P5 and P6: two workers, a command between claim and send, and wrong clocks. */
import { afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { systemClock } from '#kernel/clock'
import { connectAccount } from '#ops/operator/admin/workspaces'
import { revokeKey } from '#store/app/keys'
import { testFailpoints } from '#test/support/actors/failpoints'
import { eventually, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { waitForLockWaiter } from '#test/support/database/locks'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import { use, useApp } from '#test/support/use'

const db = use(freshDb)
const points = testFailpoints()
const app = useApp(() => ({ database: db.options, overrides: { failpoints: points.at } }))

/**
 * Its timers wait from `hold()` until `letGo()`: a process that does not notice yet that it is
 * thought dead.
 */
const clockThatWaits = () => {
  let held: (() => void)[] | undefined
  return {
    ...systemClock,
    after: (ms: number, wake: () => void) => {
      let over = false
      const timer = systemClock.after(ms, () => (held ? held.push(() => over || wake()) : wake()))
      const dispose = () => {
        over = true
        timer[Symbol.dispose]()
      }
      return { [Symbol.dispose]: dispose }
    },
    hold() {
      held = []
    },
    letGo() {
      for (const wake of held ?? []) wake()
      held = undefined
    },
  }
}

test('P4, two workers claim each item once, although the workspace changes its owner meanwhile', async () => {
  await using own = await freshDb()
  const held = testFailpoints()
  const times: SendTimes = {
    ...sendTimes,
    leaseMs: 2_600,
    deadlineMs: 500,
    marginMs: 100,
    settleMs: 50,
  }
  const overrides = { times, sweepMs: 20 }
  const clock = clockThatWaits()
  await using first = await testApp({
    database: own.options,
    overrides: { ...overrides, clock, failpoints: held.at },
  })
  await using second = await testApp({ database: own.options, overrides })
  const story = await newStory(first)
  held.arm('send.claiming', 'hang')
  const ids = [await story.approved()]
  const asked = story.send('POST', `items/${ids[0]}/post-now`)
  await held.reached('send.claiming')
  clock.hold()
  // To the second, the first is dead from now on; it waits for the first's transaction, which
  // commits its claim.
  await first.owner`delete from node where incarnation = (select owner from actor
    where tenant_id = ${story.tenantId})`
  const other = story.at(second)
  const approved = other.approved()
  await waitForLockWaiter(first.owner)
  held.release('send.claiming')
  await eventually(story.posts, (posts) => textOf(ids[0]!) in posts)
  clock.letGo()
  ids.push(await approved)
  for (let n = 0; n < 6; n++) ids.push(await (n % 2 === 0 ? other : story).scheduled(0))
  void other.send('POST', `items/${ids[1]}/post-now`)
  for (const id of ids)
    expect(await other.settled(id, 'posted')).toMatchObject({ status: 'posted' })
  await asked
  const claims =
    await first.owner`select item_id, count(*)::int as claims from attempt group by item_id`
  expect(claims.map(({ claims }) => claims)).toEqual(ids.map(() => 1))
  expect(await other.posts()).toEqual(Object.fromEntries(ids.map((id) => [textOf(id), 1])))
})

const attempts = async (id: string) =>
  (await app.owner`select state from attempt where item_id = ${id} order by number`).map(
    ({ state }) => state,
  )

/** Holds a post that is claimed and not sent. */
const claimed = async (story: Story): Promise<string> => {
  points.arm('send.claimed', 'hang')
  const id = await story.scheduled(0)
  await points.reached('send.claimed')
  expect((await story.item(id)).status).toBe('publishing')
  return id
}
/** The lane has gone on, and another post of the account has had its turn after it. */
const goOn = async (story: Story): Promise<string> => {
  points.release('send.claimed')
  const other = await story.approved()
  expect((await story.send('POST', `items/${other}/post-now`)).status).toBe(200)
  return other
}

describe('P5, between claim and send', () => {
  test('everything is paused: the post is released and goes out once after resuming', async () => {
    const story = await newStory(app)
    const id = await claimed(story)
    const { post_at } = await story.item(id)
    expect((await story.send('POST', 'automation/pause-all')).body.automation).toEqual({
      paused: true,
      in_flight: [],
    })
    expect(await story.item(id)).toMatchObject({ status: 'approved', post_at })
    const other = await goOn(story)
    expect([await story.posts(), await attempts(id)]).toEqual([{ [textOf(other)]: 1 }, ['unsent']])
    await story.send('POST', 'automation/resume-all')
    await story.settled(id, 'posted')
    expect([await story.posts(), await attempts(id)]).toEqual([
      { [textOf(other)]: 1, [textOf(id)]: 1 },
      ['unsent', 'posted'],
    ])
  })

  test('the account is disconnected: the post is released, back to approved and off the schedule', async () => {
    const story = await newStory(app)
    const id = await claimed(story)
    await story.send('DELETE', 'connection')
    expect(await story.item(id)).toMatchObject({
      status: 'approved',
      post_at: null,
      last_error: 'x_not_connected',
    })
    expect(await story.events()).toEqual(['growth.item.returned x_not_connected'])
    const account = await app.workplace.sandbox.connect(story.tenantId, `t-${story.tenantId}`)
    await connectAccount(app.workplace.world, story.tenantId, { network: 'sandbox', ...account })
    const other = await goOn(story)
    expect([await story.posts(), await attempts(id)]).toEqual([{ [textOf(other)]: 1 }, ['failed']])
  })

  test('the API key of the request is revoked: the accepted post still goes out', async () => {
    const story = await newStory(app)
    const key = await app.newKey(['api:read', 'api:write'], story.tenantId)
    const id = await story.approved()
    points.arm('send.claimed', 'hang')
    const asked = story.send('POST', `items/${id}/post-now`, { key: key.api_key })
    await points.reached('send.claimed')
    await revokeKey(app.workplace.db, key.id)
    points.release('send.claimed')
    expect((await asked).body.item).toMatchObject({ id, status: 'posted' })
    expect((await story.send('POST', `items/${id}/post-now`, { key: key.api_key })).status).toBe(
      401,
    )
    expect([await story.posts(), await attempts(id)]).toEqual([{ [textOf(id)]: 1 }, ['posted']])
  })
})

describe('P6, the clock of this process', () => {
  afterEach(() => void setSystemTime())

  const HOUR_MS = 3_600_000
  const databaseTime = async (): Promise<number> =>
    Number((await app.owner`select extract(epoch from clock_timestamp()) * 1000 as ms`)[0]!.ms)
  const scheduleIn = async (story: Story, ms: number): Promise<string> => {
    const id = await story.approved()
    const post_at = new Date((await databaseTime()) + ms).toISOString()
    expect((await story.send('POST', `items/${id}/schedule`, { body: { post_at } })).status).toBe(
      200,
    )
    return id
  }

  test.each([
    ['two hours ahead', 2 * HOUR_MS],
    ['two hours behind', -2 * HOUR_MS],
  ])('is %s: the database decides what is due, and when a lease ends', async (_, ms) => {
    const story = await newStory(app)
    setSystemTime(new Date(Date.now() + ms))
    const [due, later] = [await scheduleIn(story, 300), await scheduleIn(story, HOUR_MS)]
    expect(await story.settled(due, 'posted')).toMatchObject({ status: 'posted' })
    expect(await story.item(later)).toMatchObject({
      status: 'approved',
      post_at: expect.any(String),
    })
    expect(await story.posts()).toEqual({ [textOf(due)]: 1 })
    const [row] = await app.owner`select a.intent_at >= i.created_at
        and a.intent_at <= clock_timestamp() as sane,
      (extract(epoch from a.lease_until - a.intent_at) * 1000)::int as lease,
        i.posted_at <= clock_timestamp() as past
      from attempt a join item i on i.id = a.item_id where i.id = ${due}`
    expect(row).toEqual({ sane: true, lease: sendTimes.leaseMs, past: true })
  })
})
