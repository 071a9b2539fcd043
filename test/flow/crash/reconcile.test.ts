/**
 * C8: a process dies while it reads the timeline for a doubt, or between the find and its commit.
 * One post, one event.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { testStops } from '#test/support/actors/stops'
import { type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { openWire } from '#test/support/database/lost-commit'
import { crash, newStory, type Story, textOf } from '#test/support/growth/story'

const times: SendTimes = { ...sendTimes, settleMs: 50, windowMs: 150 }
const env = { SANDBOX_FAULTS: 'applied502=1' }

const postNow = (story: Story, id: string) =>
  story.send('POST', `items/${id}/post-now`, { headers: { 'idempotency-key': 'post it' } })

/**
 * The item is posted, by the attempt that was in doubt, once; and the key that it was asked for
 * under says so.
 */
const expectPostedOnce = async (story: Story, id: string, { owner }: TestApp): Promise<void> => {
  expect(await story.settled(id, 'posted')).toMatchObject({ status: 'posted', last_error: null })
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
  expect(await story.events()).toEqual(['growth.item.posted'])
  const attempts = await owner`select a.state, a.external_id = i.external_id as same from attempt a
      join item i on i.id = a.item_id
    where i.id = ${id}`
  expect([...attempts]).toEqual([{ state: 'posted', same: true }])
  const replay = await postNow(story, id)
  expect([
    replay.status,
    replay.body.item.status,
    replay.headers.get('idempotency-replayed'),
  ]).toEqual([200, 'posted', 'true'])
}

const points: [point: string, failpoint: string][] = [
  ['before the timeline is asked for', 'reconcile.reading'],
  ['when the timeline is read and its answer not brought home', 'reconcile.read'],
  // The last one, because it stops inside a transaction, which the database soon cancels.
  ['between the find and its commit', 'reconcile.settling'],
]

describe('C8, the process dies', () => {
  const world = new AsyncDisposableStack()
  const found = new Map<string, { story: Story; id: string; goOn: () => void }>()
  let next: TestApp

  beforeAll(async () => {
    const { options } = world.use(await freshDb())
    const stops = testStops()
    const dying = world.use(
      await testApp({ database: options, env, overrides: { times, failpoints: stops.at } }),
    )
    for (const [point, failpoint] of points) {
      const story = await newStory(dying)
      const stopped = stops.stopNext(failpoint)
      const id = await story.approved()
      // Settles when its process has died.
      void postNow(story, id)
      found.set(point, { story, id, goOn: await stopped })
    }
    await crash(dying)
    next = world.use(await testApp({ database: options, overrides: { times } }))
  })
  afterAll(() => world.disposeAsync())

  test.each(points)('%s', async (point) => {
    const { story, id, goOn } = found.get(point)!
    const after = story.at(next)
    await expectPostedOnce(after, id, next)
    // If the process was only stopped it goes on now and changes nothing.
    goOn()
    await after.approved()
    await expectPostedOnce(after, id, next)
  })
})

test('C8, the find is committed, but the answer to its commit is lost', async () => {
  await using db = await freshDb()
  await using wire = await openWire(db.options)
  const stops = testStops()
  await using app = await testApp({
    database: wire.options,
    env,
    overrides: { times, failpoints: stops.at },
  })
  const story = await newStory(app)
  const stopped = stops.stopNext('reconcile.read')
  const id = await story.approved()
  const asked = postNow(story, id)
  const goOn = await stopped
  const lost = wire.loseCommitOf(id)
  goOn()
  await lost
  expect([200, 202]).toContain((await asked).status)
  await expectPostedOnce(story, id, app)
})
