/** What happens to letters whose database connection breaks under them, or is fought over. */
import { expect, test } from 'bun:test'
import { type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/db'
import { testFailpoints } from '#test/support/failpoints'
import { newStory, type Story } from '#test/support/story'

/** Ends the sessions that are inside a transaction at this moment; gives how many. */
const cutTransactions = async ({ owner }: TestApp): Promise<number> => {
  const rows = await owner`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'tendril' and xact_start is not null and pid <> pg_backend_pid()`
  return rows.length
}

const approve = (story: Story, id: string) => story.send('POST', `items/${id}/approve`, { headers: { 'idempotency-key': `approve ${id}` } })

test('cut while it decides: 503, nothing of it has happened, and the same request then succeeds', async () => {
  const points = testFailpoints()
  await using app = await testApp({ overrides: { failpoints: points.at } })
  const story = await newStory(app)
  const id = await story.drafted()
  points.arm('letter.deciding', 'hang')
  const cut = approve(story, id)
  await points.reached('letter.deciding')
  expect(await cutTransactions(app)).toBe(1)
  const reply = await cut
  expect([reply.status, reply.body.error.code, reply.headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
  points.release('letter.deciding')
  expect(await story.item(id)).toMatchObject({ status: 'drafted' })
  expect((await approve(story, id)).body.item.status).toBe('approved')
})

test('cut while the database works for it: 503, nothing of it has happened, and the same request then succeeds', async () => {
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
  const waits = async () => (await app.owner`select 1 from pg_locks where not granted`).length
  while ((await waits()) === 0) await Bun.sleep(5)
  await app.owner`select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  expect((await cut).status).toBe(503)
  held.resolve()
  await holding
  expect(await story.item(id)).toMatchObject({ status: 'drafted' })
  expect((await approve(story, id)).body.item.status).toBe('approved')
})

test('what a broken letter goes on to do never reaches the letter that has its connection now', async () => {
  await using db = await freshDb()
  const [brokenDecides, brokenGoesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let next: 'none' | 'breaks' | 'meets it' = 'none'
  const failpoints = async (name: string) => {
    const [now] = name === 'letter.deciding' ? [next] : ['none']
    if (now === 'none') return
    next = 'none'
    if (now === 'breaks') brokenDecides.resolve()
    else brokenGoesOn.resolve()
    await (now === 'breaks' ? brokenGoesOn.promise : Bun.sleep(20))
  }
  // With a single connection, the next letter has the one that broke.
  await using app = await testApp({ database: { ...db.options, max: 1 }, overrides: { failpoints } })
  const [story, other] = [await newStory(app), await newStory(app)]
  const [id, theirs] = [await story.drafted(), await other.drafted()]
  next = 'breaks'
  const cut = approve(story, id)
  await brokenDecides.promise
  await cutTransactions(app)
  expect((await cut).status).toBe(503)
  next = 'meets it'
  expect((await approve(other, theirs)).body.item.status).toBe('approved')
  await brokenGoesOn.promise
  expect(await story.item(id)).toMatchObject({ status: 'drafted' })
  const audits = await app.owner`select tenant_id, ref_id from audit where ref_id in (${id}, ${theirs})`
  expect([...audits]).toEqual([{ tenant_id: other.tenantId, ref_id: theirs }])
})

test('letters and reads in crowds keep out of each other’s way', async () => {
  await using app = await testApp()
  const stories = await Promise.all(Array.from({ length: 12 }, () => newStory(app)))
  const crowd = stories.flatMap((story) => [
    ...Array.from({ length: 8 }, () => story.send('GET', 'items')),
    ...Array.from({ length: 8 }, () => story.drafted().then((id) => approve(story, id))),
  ])
  const statuses = (await Promise.all(crowd)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200]))
  const idle = await app.owner`select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`
  expect(idle).toHaveLength(0)
})
