/** An attempt keeps the text it has sent, so that no later change of the item can hide the post. */

import { beforeEach, expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { type Stops, testStops } from '#test/support/actors/stops'
import { eventually, testApp } from '#test/support/app'
import { insertSandboxPost, setItem } from '#test/support/database/writes'
import { approvedEngagement, engagementOf } from '#test/support/growth/engagements'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import { useEach } from '#test/support/use'

const times: SendTimes = { ...sendTimes, settleMs: 50, windowMs: 150 }

let stops: Stops
// One a test: a doubt that a test leaves behind is still read, and would reach the stops of the
// next test.
beforeEach(() => {
  stops = testStops()
})
const app = useEach(() =>
  testApp({ env: { SANDBOX_FAULTS: 'drop=1' }, overrides: { times, failpoints: stops.at } }),
)

const decided = (story: Story, id: string) =>
  eventually(
    () => story.item(id),
    ({ status, review }) => status === 'posted' || review,
  )

test('an item whose text changes in the database while in doubt is found by the text that was sent', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  const stopped = stops.stopNext('reconcile.reading')
  void story.send('POST', `items/${id}/post-now`)
  const goOn = await stopped
  await setItem(app, id, { body: 'Nobody sent this.' })
  goOn()
  expect(await decided(story, id)).toMatchObject({ status: 'posted', review: false })
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a reply whose text changes in the database while in doubt is found by the text that was sent', async () => {
  const story = await newStory(app)
  const post = await insertSandboxPost(app, story.account, 'What do you do about late deliveries?')
  const { id } = await approvedEngagement(app, story, { post })
  const stopped = stops.stopNext('reconcile.reading')
  void story.send('POST', `engagements/${id}/execute`)
  const goOn = await stopped
  await app.owner`update engagement set body = 'Nobody sent this.' where id = ${id}`
  goOn()
  const end = await eventually(
    () => engagementOf(story, id),
    ({ status, review }) => status === 'executed' || review,
  )
  expect(end).toMatchObject({ status: 'executed', review: false })
  expect(await story.posts()).toMatchObject({ 'We call first.': 1 })
})

test("one item's post is not taken for that of another whose text has become the same", async () => {
  const story = await newStory(app)
  const [first, second] = [
    await story.approved('Only the first says this.'),
    await story.approved('The second says that.'),
  ]
  const reading = stops.stopNext('reconcile.reading')
  void story.send('POST', `items/${first}/post-now`)
  const readFirst = await reading
  const sending = stops.stopNext('sandbox.received')
  void story.send('POST', `items/${second}/post-now`)
  const sendSecond = await sending
  await setItem(app, second, { body: 'Only the first says this.' })
  sendSecond()
  await story.settled(second, 'publish_unconfirmed')
  readFirst()
  for (const id of [first, second]) expect((await decided(story, id)).status).toBe('posted')
  const sent = await app.owner`select p.text, a.item_id from sandbox.posts p
      join attempt a on a.external_id = p.id where a.tenant_id = ${story.tenantId}`
  expect(Object.fromEntries(sent.map(({ text, item_id }) => [item_id, text]))).toEqual({
    [first]: 'Only the first says this.',
    [second]: 'The second says that.',
  })
})

test('an attempt of an older version, without its text, goes to review and is never sent again without a read', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  const stopped = stops.stopNext('reconcile.reading')
  void story.send('POST', `items/${id}/post-now`)
  const goOn = await stopped
  await app.owner`update attempt set sent_text = null where item_id = ${id}`
  goOn()
  expect(await decided(story, id)).toMatchObject({ status: 'publish_unconfirmed', review: true })
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})
