/**
 * A process dies, or a connection, while a person takes back a post that is claimed and not yet sent. Whatever the person was told, the
 * network has the text at most once, and not after the answer that it was taken back.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/db'
import { openWire } from '#test/support/lost-commit'
import { type Stops, testStops } from '#test/support/stops'
import { crash, newStory, type Story } from '#test/support/story'
import { endLeases } from '#test/support/writes'

const times: SendTimes = { ...sendTimes, leaseMs: 2_600, deadlineMs: 500, marginMs: 100, settleMs: 50, windowMs: 150 }

const reopen = (story: Story, id: string) => story.send('POST', `items/${id}/reopen`, { headers: { 'idempotency-key': 'take it back' } })
const attemptsOf = async ({ owner }: TestApp, id: string) =>
  (await owner`select state from attempt where item_id = ${id} order by number`).map(({ state }) => state)

/** An item whose send is claimed and held up, with the function that lets it go on. */
const claimed = async (story: Story, stops: Stops): Promise<{ id: string; goOn: () => void }> => {
  const stopped = stops.stopNext('send.claimed')
  const id = await story.scheduled(0)
  return { id, goOn: await stopped }
}

describe('a process that dies', () => {
  const world = new AsyncDisposableStack()
  let [dying, next]: TestApp[] = []
  const stories: Record<string, { story: Story; id: string; goOn: () => void; status: number | undefined }> = {}

  beforeAll(async () => {
    const { options } = world.use(await freshDb())
    const stops = testStops()
    dying = world.use(await testApp({ database: options, overrides: { failpoints: stops.at } }))
    const after = await newStory(dying)
    const done = await claimed(after, stops)
    stories.after = { story: after, ...done, status: (await reopen(after, done.id)).status }
    const before = await newStory(dying)
    const held = await claimed(before, stops)
    const stopped = stops.stopNext('letter.deciding:growth.items.reopen')
    const asked = reopen(before, held.id)
    const goOn = await stopped
    await crash(dying)
    await endLeases(dying)
    next = world.use(await testApp({ database: options, overrides: { times } }))
    goOn()
    stories.before = { story: before.at(next), ...held, status: (await asked).status }
    stories.after.story = after.at(next)
  })
  afterAll(() => world.disposeAsync())

  test('between the recall and its commit: nobody was told so, nothing is sent, and a person looks', async () => {
    const { story, id, goOn, status } = stories.before!
    expect(status).toBe(503)
    goOn()
    await eventually(
      () => story.item(id),
      ({ review }) => review,
    )
    expect((await reopen(story, id)).status).toBe(409)
    expect([await story.posts(), await attemptsOf(next!, id)]).toEqual([{}, ['review']])
  })

  test('after the commit: the item is a draft, and the held lane sends nothing', async () => {
    const { story, id, goOn, status } = stories.after!
    expect(status).toBe(200)
    goOn()
    const again = await reopen(story, id)
    expect([again.status, again.body.item.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'drafted', 'true'])
    expect([await story.posts(), await attemptsOf(next!, id)]).toEqual([{}, ['unsent']])
  })
})

test('a commit that was not heard of: 503, and the same key and another request find the draft', async () => {
  await using db = await freshDb()
  await using wire = await openWire(db.options)
  const stops = testStops()
  await using app = await testApp({ database: wire.options, overrides: { times, failpoints: stops.at } })
  const story = await newStory(app)
  const { id, goOn } = await claimed(story, stops)
  const lost = wire.loseCommitOf(id)
  const asked = reopen(story, id)
  await lost
  expect((await asked).status).toBe(503)
  goOn()
  expect(await story.item(id)).toMatchObject({ status: 'drafted' })
  const replayed = await reopen(story, id)
  expect([replayed.status, replayed.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
  expect((await story.send('POST', `items/${id}/reopen`)).status).toBe(200)
  expect([await story.posts(), await attemptsOf(app, id)]).toEqual([{}, ['unsent']])
})

test('a send that another process claimed is not taken back', async () => {
  await using db = await freshDb()
  const stops = testStops()
  await using dying = await testApp({ database: db.options, overrides: { failpoints: stops.at } })
  const story = await newStory(dying)
  const { id, goOn } = await claimed(story, stops)
  await crash(dying)
  await using next = await testApp({ database: db.options, overrides: { times: { ...times, settleMs: 3_600_000 } } })
  const refused = await reopen(story.at(next), id)
  expect(refused.status).toBe(409)
  goOn()
  await story.at(next).settled(id, 'publish_unconfirmed')
  expect(await story.at(next).posts()).toEqual({})
})
