/**
 * The database's clock decides what is due and how long a claim holds. When clocks step, nothing is
 * sent early, nothing is sent twice and nothing is lost. P6 of the state machine's crash points.
 */
import { afterEach, beforeEach, expect, setSystemTime, test } from 'bun:test'
import { sendTimes } from '#domain/growth/sending/times'
import { type TestFailpoints, testFailpoints } from '#test/support/actors/failpoints'
import { eventually, testApp } from '#test/support/app'
import { steppedDb } from '#test/support/database/clock'
import { crash, newStory, type Story, textOf } from '#test/support/growth/story'
import { useEach } from '#test/support/use'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A doubt soon goes to review; a claim holds as long as in production. */
const times = { ...sendTimes, settleMs: 50, windowMs: 150 }

let failpoints: TestFailpoints
afterEach(() => {
  setSystemTime()
  for (const name of ['send.claimed', 'send.claiming']) failpoints.release(name)
})
const db = useEach(() => steppedDb({ timezone: "'America/New_York'" }))
beforeEach(() => {
  failpoints = testFailpoints()
})
const app = useEach(() =>
  testApp({ database: db.options, overrides: { times, failpoints: failpoints.at } }),
)

/** An item that is due in `ms` by the database's clock. */
const scheduled = async (story: Story, ms: number): Promise<string> => {
  const id = await story.approved()
  const reply = await story.send('POST', `items/${id}/schedule`, {
    body: { post_at: new Date((await db.clock.now()) + ms).toISOString() },
  })
  expect(reply.status).toBe(200)
  return id
}

/** Posts a due item; whatever else was due before it has run by then. */
const lookForDue = async (story: Story): Promise<string> => {
  const id = await scheduled(story, 0)
  await story.settled(id, 'posted')
  return textOf(id)
}

test("P6, clock step: the database's clock decides what is due and when a lease ends, not the process's", async () => {
  const story = await newStory(app)
  const id = await scheduled(story, HOUR_MS / 2)
  setSystemTime(new Date(Date.now() + 2 * DAY_MS))
  const first = await lookForDue(story)
  expect(await story.posts()).toEqual({ [first]: 1 })

  await db.clock.step(-HOUR_MS)
  setSystemTime(new Date(Date.now() + DAY_MS))
  const second = await lookForDue(story)
  expect(await story.posts()).toEqual({ [first]: 1, [second]: 1 })

  failpoints.arm('send.claimed', 'hang')
  await db.clock.step(HOUR_MS + HOUR_MS / 2)
  await failpoints.reached('send.claimed')
  const [claim] = await app.owner<{ lease: number; overdue: number }[]>`
    select extract(epoch from lease_until - intent_at)::float8 * 1000 as lease,
      extract(epoch from intent_at - i.post_at)::float8 * 1000 as overdue from attempt a
        join item i on i.id = a.item_id where i.id = ${id}`
  expect(claim!.lease).toBe(times.leaseMs)
  expect(claim!.overdue).toBeGreaterThanOrEqual(0)
  expect(claim!.overdue).toBeLessThan(HOUR_MS)
  setSystemTime(new Date(Date.now() - 5 * DAY_MS))
  failpoints.release('send.claimed')
  await story.settled(id, 'posted')
  expect(await story.posts()).toEqual({ [first]: 1, [second]: 1, [textOf(id)]: 1 })
})

test('a claim that a forward step ends is never sent and goes to review', async () => {
  const story = await newStory(app)
  failpoints.arm('send.claimed', 'hang')
  const id = await scheduled(story, 0)
  await failpoints.reached('send.claimed')
  await db.clock.step(2 * DAY_MS)
  await story.settled(id, 'publish_unconfirmed')
  failpoints.release('send.claimed')
  const item = await eventually(
    () => story.item(id),
    ({ review }) => review,
  )
  expect(item).toMatchObject({ status: 'publish_unconfirmed', review: true })
  expect(await story.posts()).toEqual({})
})

test('a manual post goes out at once, although the clock steps back before it is claimed', async () => {
  const story = await newStory(app)
  failpoints.arm('send.claimed', 'hang')
  const before = await scheduled(story, 0)
  await failpoints.reached('send.claimed')
  const id = await story.approved()
  const pending = story.send('POST', `items/${id}/post-now`)
  await story.settled(id, 'publishing')
  await db.clock.step(-HOUR_MS)
  failpoints.release('send.claimed')
  expect((await pending).status).toBe(200)
  expect(await story.posts()).toEqual({ [textOf(before)]: 1, [textOf(id)]: 1 })
})

test('the claim of a dead process is settled when its lease could have ended, not an hour later', async () => {
  const story = await newStory(app)
  failpoints.arm('send.claimed', 'hang')
  const id = await scheduled(story, 0)
  await failpoints.reached('send.claimed')
  await crash(app)
  await db.clock.step(-HOUR_MS)
  await using next = await testApp({ database: db.options, overrides: { times } })
  const restarted = story.at(next)
  await restarted.drafted().then((other) => restarted.send('POST', `items/${other}/approve`))
  await restarted.settled(id, 'publish_unconfirmed')
  const [look] = await app.owner<
    { ms: number }[]
  >`select (extract(epoch from run_at) * 1000)::float8 as ms from work where ref_id = ${id}`
  expect(look!.ms - (await db.clock.now())).toBeLessThanOrEqual(times.leaseMs + times.settleMs)
})
