/**
 * What people settle themselves: posts they mark as posted, and accounts they disconnect during a
 * send.
 */
import { expect, test } from 'bun:test'
import { sendTimes } from '#domain/growth/sending/times'
import { testFailpoints } from '#test/support/actors/failpoints'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import { useApp } from '#test/support/use'

/** The doubt never gets as far as a read of the timeline. */
const times = { ...sendTimes, settleMs: 3_600_000 }
const URL_OF_POST = 'https://network.example/posts/1'

const points = testFailpoints()
const app = useApp({ overrides: { times, failpoints: points.at } })
const impatient = useApp(() => ({
  database: app.options,
  overrides: { times, replyWithinMs: 50 },
  env: { SANDBOX_FAULTS: 'applied502=1' },
}))

const postNow = (story: Story, id: string, key: string) =>
  story.send('POST', `items/${id}/post-now`, { headers: { 'idempotency-key': key } })
const markPosted = (story: Story, id: string) =>
  story.send('POST', `items/${id}/posted`, { body: { url: URL_OF_POST } })

/** What is kept may be given to callers who do not see names. */
const withoutNames = (text: string): string => text.replaceAll(/"name":"[^"]*"/g, '"name":null')

const unsettled = async ({ tenantId }: Story) => ({
  work: (
    await app.owner`select kind from work where tenant_id = ${tenantId}
      and kind not in ('weekly_report', 'posted_read')`
  ).map(({ kind }) => kind),
  attempts: (await app.owner`select state from attempt where tenant_id = ${tenantId}`).map(
    ({ state }) => state,
  ),
  keys: (await app.owner`select state from idempotency where tenant_id = ${tenantId}`).map(
    ({ state }) => state,
  ),
})

test('marking an unconfirmed item as posted settles it, and the key that waited for it', async () => {
  const story = await newStory(impatient)
  const id = await story.approved()
  expect((await postNow(story, id, 'pending')).status).toBe(202)
  await story.settled(id, 'publish_unconfirmed')
  expect(await unsettled(story)).toEqual({
    work: ['reconcile'],
    attempts: ['doubt'],
    keys: ['pending'],
  })
  const marked = await markPosted(story, id)
  expect(marked.body.item).toMatchObject({ status: 'posted', url: URL_OF_POST, last_error: null })
  expect(await unsettled(story)).toEqual({ work: [], attempts: ['posted'], keys: ['done'] })
  const replay = await postNow(story, id, 'pending')
  expect([replay.status, replay.text, replay.headers.get('idempotency-replayed')]).toEqual([
    200,
    withoutNames(marked.text),
    'true',
  ])
  expect(await story.events()).toEqual(['growth.item.posted'])
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a caller who waits for an item gets the answer once a person settles it', async () => {
  const story = await newStory(app)
  points.arm('send.sent', new Error('the answer was lost'))
  const id = await story.approved()
  const waiting = postNow(story, id, 'waiting')
  await story.settled(id, 'publish_unconfirmed')
  points.release('send.sent')
  const marked = await markPosted(story, id)
  const reply = await waiting
  expect([reply.status, reply.text]).toEqual([200, withoutNames(marked.text)])
})

test('a scheduled item that is marked as posted is not sent', async () => {
  const story = await newStory(app)
  const id = await story.scheduled(3_600_000)
  expect((await markPosted(story, id)).status).toBe(200)
  expect(await unsettled(story)).toEqual({ work: [], attempts: [], keys: [] })
  const later = await story.scheduled(0)
  await story.settled(later, 'posted')
  expect(await story.posts()).toEqual({ [textOf(later)]: 1 })
})
