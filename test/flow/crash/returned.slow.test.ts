/**
 * A process that dies while a doubt ends by itself, or right before what was returned is sent
 * again: returned once, said once, and never posted twice.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { type Stops, testStops } from '#test/support/actors/stops'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { openWire } from '#test/support/database/lost-commit'
import { crash, newStory, type Story, textOf } from '#test/support/growth/story'

const times: SendTimes = { ...sendTimes, settleMs: 50, windowMs: 150 }
const env = { SANDBOX_FAULTS: '500=1' }
const REASON = 'network_error_not_posted'

const postNow = (story: Story, id: string) =>
  story.send('POST', `items/${id}/post-now`, { headers: { 'idempotency-key': 'post it' } })

const attempts = async ({ owner }: TestApp, id: string): Promise<string[]> =>
  (await owner`select state from attempt where item_id = ${id} order by number`).map(
    ({ state }) => state,
  )

/**
 * Asks for the post. When two of the three reads that prove its end are told, the next one stops
 * there.
 */
const stopAtProof = async (
  app: TestApp,
  stops: Stops,
  { story, id, failpoint }: { story: Story; id: string; failpoint: string },
) => {
  let reading = stops.stopNext('reconcile.reading')
  const asked = postNow(story, id)
  for (;;) {
    const goOn = await reading
    const [attempt] = await app.owner`select proof_reads from attempt where item_id = ${id}`
    if (attempt!.proof_reads === 2 && failpoint === 'reconcile.reading') return { asked, goOn }
    reading = stops.stopNext(attempt!.proof_reads === 2 ? failpoint : 'reconcile.reading')
    goOn()
    if (attempt!.proof_reads === 2) return { asked, goOn: await reading }
  }
}

/** Approved once, said once, nothing on the network, and the same key posts it. */
const expectReturned = async (story: Story, id: string, app: TestApp): Promise<void> => {
  expect(await story.settled(id, 'approved')).toMatchObject({
    status: 'approved',
    post_at: null,
    last_error: REASON,
    doubt: null,
  })
  expect(await attempts(app, id)).toEqual(['returned'])
  expect(await story.events()).toEqual([`growth.item.returned ${REASON}`])
  expect(await story.posts()).toEqual({})
}

const points: [point: string, failpoint: string][] = [
  ['before the last read that proves it', 'reconcile.reading'],
  ['when that is read and its answer not brought home', 'reconcile.read'],
  // The last, because it stands in a transaction, which the database does not suffer for long.
  ['between that read and its commit', 'reconcile.settling'],
]

describe('the process dies', () => {
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
      const id = await story.approved()
      const { goOn } = await stopAtProof(dying, stops, { story, id, failpoint })
      found.set(point, { story, id, goOn })
    }
    await crash(dying)
    next = world.use(await testApp({ database: options, overrides: { times } }))
  })
  afterAll(() => world.disposeAsync())

  test.each(points)('%s', async (point) => {
    const { story, id, goOn } = found.get(point)!
    const after = story.at(next)
    await expectReturned(after, id, next)
    // Should the process only have been stopped, it goes on now, and changes nothing.
    goOn()
    await after.approved()
    await expectReturned(after, id, next)
    expect((await postNow(after, id)).body.item.status).toBe('posted')
    expect(await after.posts()).toEqual({ [textOf(id)]: 1 })
    expect(await attempts(next, id)).toEqual(['returned', 'posted'])
  })
})

test('the commit of the return stands, and its news is lost', async () => {
  await using db = await freshDb()
  await using wire = await openWire(db.options)
  const stops = testStops()
  await using app = await testApp({
    database: wire.options,
    env,
    overrides: { times, failpoints: stops.at, replyWithinMs: 1_000 },
  })
  const story = await newStory(app)
  const id = await story.approved()
  const { asked, goOn } = await stopAtProof(app, stops, { story, id, failpoint: 'reconcile.read' })
  const lost = wire.loseCommitOf(id)
  goOn()
  await lost
  // The answer leaves the outcome open or says that nothing was posted; it never says that the item
  // was posted.
  expect([202, 502]).toContain((await asked).status)
  await expectReturned(story, id, app)
})

test('between the read before the next send and that send: nothing goes out, and a person is asked', async () => {
  await using db = await freshDb()
  const stops = testStops()
  await using dying = await testApp({
    database: db.options,
    env,
    overrides: { times, failpoints: stops.at },
  })
  const story = await newStory(dying)
  const id = await story.approved()
  await postNow(story, id)
  await expectReturned(story, id, dying)
  const stopped = stops.stopNext('send.looked')
  void postNow(story, id)
  const goOn = await stopped
  await crash(dying)
  await dying.owner`update attempt set lease_until = now() where item_id = ${id} and state = 'open'`
  await using next = await testApp({ database: db.options, overrides: { times } })
  const after = story.at(next)
  const item = await eventually(
    () => after.item(id),
    ({ review }) => review,
  )
  expect(item).toMatchObject({
    status: 'publish_unconfirmed',
    doubt: { cause: 'process_stopped', resolves: 'by_person' },
  })
  goOn()
  expect(await after.posts()).toEqual({})
  expect(await attempts(next, id)).toEqual(['returned', 'review'])
})
