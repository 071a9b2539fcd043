/** Letters whose database connection breaks, or is contended. */
import { expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { newStory, type Story, textOf } from '#test/support/growth/story'

/**
 * Ends the sessions that are in a transaction at this moment, a look for work beside the one that
 * is meant among them; returns how many.
 */
const cutTransactions = async ({ owner }: TestApp): Promise<number> => {
  const rows = await owner`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'tendril' and xact_start is not null
      and pid <> pg_backend_pid()`
  return rows.length
}

const approve = (story: Story, id: string) =>
  story.send('POST', `items/${id}/approve`, { headers: { 'idempotency-key': `approve ${id}` } })

const postNow = (story: Story, id: string) => story.send('POST', `items/${id}/post-now`)
const attemptsOf = async ({ owner }: TestApp, id: string) => [
  ...(await owner`select tenant_id, state from attempt where item_id = ${id}`),
]

test('a claim whose connection breaks while it decides is repeated', async () => {
  const stops = testStops()
  await using app = await testApp({ overrides: { failpoints: stops.at } })
  const story = await newStory(app)
  const id = await story.approved()
  const stopped = stops.stopNext('send.claiming')
  const posting = postNow(story, id)
  await stopped
  expect(await cutTransactions(app)).toBeGreaterThan(0)
  expect((await posting).status).toBe(200)
  expect(await attemptsOf(app, id)).toEqual([{ tenant_id: story.tenantId, state: 'posted' }])
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a command whose connection breaks answers 503, has no effect, and succeeds when repeated', async () => {
  await using app = await testApp()
  const story = await newStory(app)
  const id = await story.drafted()
  const held = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holding = app.owner.begin(async (sql) => {
    await sql`select 1 from item where id = ${id} for update`
    locked.resolve()
    await held.promise
  })
  await locked.promise
  const cut = approve(story, id)
  const cutWaiting = async () =>
    (
      await app.owner`select pg_terminate_backend(pid) from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`
    ).length
  await eventually(cutWaiting, (count) => count > 0)
  expect((await cut).status).toBe(503)
  held.resolve()
  await holding
  expect(await story.item(id)).toMatchObject({ status: 'drafted' })
  expect((await approve(story, id)).body.item.status).toBe('approved')
})

test('what a broken letter still does never reaches the letter that now has its connection', async () => {
  await using db = await freshDb()
  const stops = testStops()
  // With a single connection, the next letter gets the one that broke.
  await using app = await testApp({
    database: { ...db.options, max: 1 },
    overrides: { failpoints: stops.at },
  })
  const [story, other] = [await newStory(app), await newStory(app)]
  const [id, theirs] = [await story.approved(), await other.approved()]
  const broken = stops.stopNext('send.claiming')
  const posting = postNow(story, id)
  const letBrokenContinue = await broken
  expect(await cutTransactions(app)).toBeGreaterThan(0)
  const theirClaim = stops.stopNext('send.claiming')
  const theirPosting = postNow(other, theirs)
  const letTheirsContinue = await theirClaim
  letBrokenContinue()
  // Long enough for it to do harm.
  await Bun.sleep(20)
  letTheirsContinue()
  expect([(await posting).status, (await theirPosting).status]).toEqual([200, 200])
  expect(await attemptsOf(app, id)).toEqual([{ tenant_id: story.tenantId, state: 'posted' }])
  expect(await attemptsOf(app, theirs)).toEqual([{ tenant_id: other.tenantId, state: 'posted' }])
})

test('many letters and reads at once do not get in each other’s way', async () => {
  await using app = await testApp()
  const stories = await Promise.all(Array.from({ length: 6 }, () => newStory(app)))
  const crowd = () =>
    stories.flatMap((story) => [
      ...Array.from({ length: 8 }, () => story.send('GET', 'items')),
      ...Array.from({ length: 8 }, () => story.drafted().then((id) => approve(story, id))),
    ])
  // Opens the connections, which on a busy machine may take longer than callers wait.
  await Promise.allSettled(crowd())
  const statuses = (await Promise.all(crowd())).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200]))
  const idle = await app.owner`select 1 from pg_stat_activity where datname = current_database()
      and state like 'idle in transaction%'`
  expect(idle).toHaveLength(0)
})
