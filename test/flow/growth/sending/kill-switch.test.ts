/** The kill switch: once pause-all has answered, nothing unattended goes out. */

import { expect, test } from 'bun:test'
import { kindsWhere } from '#decisions/work'
import { sendTimes } from '#domain/growth/sending/times'
import { testFailpoints } from '#test/support/actors/failpoints'
import { eventually, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import {
  endLeases,
  extendLeases,
  insertRecordlessWork,
  makeItemDue,
} from '#test/support/database/writes'
import { approvedEngagement, engagementOf } from '#test/support/growth/engagements'
import { crash, newStory, type Story, textOf } from '#test/support/growth/story'
import { use, useApp } from '#test/support/use'

const times = { ...sendTimes, settleMs: 100, windowMs: 60_000 }

const db = use(freshDb)
const points = testFailpoints()
const app = useApp(() => ({ database: db.options, overrides: { times, failpoints: points.at } }))

const pause = async (story: Story) =>
  (await story.send('POST', 'automation/pause-all')).body.automation
const resume = async (story: Story) =>
  (await story.send('POST', 'automation/resume-all')).body.automation
/**
 * Makes the item due, then posts another by hand. Once that is out, the lanes have looked for due
 * work since.
 */
const personPostsAfter = async (story: Story, id: string): Promise<string> => {
  const { post_at } = await story.item(id)
  await eventually(
    async () => Date.now(),
    (now) => now > Date.parse(post_at!) + 50,
  )
  const own = await story.approved()
  expect((await story.postNow(own)).body.item.status).toBe('posted')
  return own
}

test('an item that falls due while paused stays on the schedule until resumed; people can still draft, approve and post', async () => {
  const story = await newStory(app)
  const ids = [await story.scheduled(3_600_000), await story.scheduled(3_600_000)]
  expect(await pause(story)).toEqual({ paused: true, in_flight: [] })
  for (const id of ids) await makeItemDue(app, id)
  const own = await personPostsAfter(story, ids[0]!)
  expect(await story.posts()).toEqual({ [textOf(own)]: 1 })
  for (const id of ids)
    expect(await story.item(id)).toMatchObject({ status: 'approved', post_at: expect.any(String) })
  expect(await resume(story)).toEqual({ paused: false, in_flight: [] })
  for (const id of ids) await story.settled(id, 'posted')
  expect(await story.posts()).toEqual({
    [textOf(own)]: 1,
    [textOf(ids[0]!)]: 1,
    [textOf(ids[1]!)]: 1,
  })
})

test('what resuming does with overdue posts is what automation has said it would', async () => {
  const story = await newStory(app)
  const said = async () =>
    (await story.send('GET', 'automation')).body.automation.on_resuming as object | null
  expect(await said()).toBeNull()
  await story.send('PUT', 'profile', { body: { on_missed: 'skip' } })
  await story.scheduled(3_600_000)
  const late = async (minutes: number, more: { on_missed?: 'post' | 'skip' } = {}) => {
    const id = await story.scheduled(3_600_000, more)
    const before = minutes * 60_000
    await app.owner`update item set post_at = now() - ${before} * interval '1 millisecond'
      where id = ${id}`
    await app.owner`update work set run_at = now() - ${before} * interval '1 millisecond'
      where ref_id = ${id}`
    return id
  }
  await pause(story)
  const sent = [await late(30, { on_missed: 'post' }), await late(0.5)]
  const skipped = [await late(30), await late(61, { on_missed: 'post' }), await late(10_000)]
  const none = { sent: 0, skipped: sent.length + skipped.length }
  const whole = { sent: sent.length, skipped: skipped.length }
  expect(await said()).toEqual(whole)
  const { tenantId } = story
  await app.owner`update tenant set billing = 'plan_expired' where id = ${tenantId}`
  expect(await said()).toEqual(none)
  await app.owner`update tenant set billing = 'ok' where id = ${tenantId}`
  const own = await app.owner<{ id: string }[]>`update connection set status = 'disconnected',
    is_default = false where tenant_id = ${tenantId} and is_default returning id`
  expect(await said()).toEqual(none)
  await app.owner`update connection set status = 'connected', is_default = true
    where id = ${own[0]!.id} and tenant_id = ${tenantId}`
  expect(await said()).toEqual(whole)
  await resume(story)
  for (const id of sent) await story.settled(id, 'posted')
  for (const id of skipped)
    expect(
      await eventually(
        () => story.item(id),
        ({ post_at }) => post_at === null,
      ),
    ).toMatchObject({ status: 'approved', last_error: 'missed' })
  expect(await said()).toBeNull()
})

test('a manual post of an item that is being recalled waits for the recall and answers with the post', async () => {
  const story = await newStory(app)
  points.arm('send.claimed', 'hang')
  const id = await story.scheduled(0)
  await points.reached('send.claimed')
  await pause(story)
  const pending = story.postNow(id)
  await story.settled(id, 'publishing')
  points.release('send.claimed')
  const reply = await pending
  expect([reply.status, reply.body.item.status]).toEqual([200, 'posted'])
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a post whose request is out is listed, not aborted, and ends as posted', async () => {
  const story = await newStory(app)
  points.arm('sandbox.received', 'hang')
  const id = await story.scheduled(0)
  await points.reached('sandbox.received')
  const { paused, in_flight } = await pause(story)
  expect({ paused, in_flight }).toEqual({ paused: true, in_flight: automatic(id) })
  points.release('sandbox.received')
  expect(await story.settled(id, 'posted')).toMatchObject({ status: 'posted' })
  expect((await pause(story)).in_flight).toEqual([])
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a manual post is neither recalled nor held', async () => {
  const story = await newStory(app)
  points.arm('send.claimed', 'hang')
  const id = await story.approved()
  const pending = story.postNow(id)
  await points.reached('send.claimed')
  expect((await pause(story)).in_flight).toEqual([
    { item_id: id, origin: 'manual', since: expect.any(String) },
  ])
  points.release('send.claimed')
  expect((await pending).body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

const automatic = (id: string) => [{ item_id: id, origin: 'automatic', since: expect.any(String) }]
const manual = (id: string) => [{ engagement_id: id, origin: 'manual', since: expect.any(String) }]

test.each(['reply', 'like'] as const)(
  'a %s that a person has on the wire is not aborted but listed, until it is executed',
  async (action) => {
    const story = await newStory(app)
    const { id } = await approvedEngagement(app, story, { action })
    points.arm('sandbox.received', 'hang')
    const pending = story.send('POST', `engagements/${id}/execute`)
    await points.reached('sandbox.received')
    expect((await pause(story)).in_flight).toEqual(manual(id))
    expect((await resume(story)).in_flight).toEqual(manual(id))
    points.release('sandbox.received')
    expect((await pending).body.engagement.status).toBe('executed')
    expect((await pause(story)).in_flight).toEqual([])
  },
)

test('what a dead process may still be sending is listed until its lease has ended, even if a person has settled it', async () => {
  await using stack = new AsyncDisposableStack()
  const own = stack.use(await freshDb())
  const held = testFailpoints()
  const dead = stack.use(
    await testApp({ database: own.options, overrides: { failpoints: held.at } }),
  )
  const stories = [await newStory(dead), await newStory(dead), await newStory(dead)] as const
  const engaged = await approvedEngagement(dead, stories[2])
  const begun = async <T>(point: string, begin: () => T): Promise<T> => {
    held.arm(point, 'hang')
    stack.defer(() => held.release(point))
    const begins = begin()
    await held.reached(point)
    return begins
  }
  const applied = await begun('sandbox.applied', () => stories[0].scheduled(0))
  const claimed = await begun('send.claimed', () => stories[1].scheduled(0))
  const pending = stories[2].send('POST', `engagements/${engaged.id}/execute`)
  await eventually(
    () => stories[2].attempts(engaged.id),
    (claims) => claims.length === 1,
  )
  await crash(dead)
  expect((await pending).status).toBe(503)
  // They end long after this test, however slow the machine is.
  await extendLeases(dead)
  const next = stack.use(await testApp({ database: own.options, overrides: { times } }))
  const [post, settled, reply] = stories.map((story) => story.at(next))
  await settled!.settled(claimed, 'publish_unconfirmed')
  await post!.settled(applied, 'publish_unconfirmed')
  await eventually(
    () => engagementOf(reply!, engaged.id),
    ({ status }) => status === 'execute_unconfirmed',
  )
  expect((await settled!.send('POST', `items/${claimed}/posted`, {})).body.item.status).toBe(
    'posted',
  )
  for (const [story, listed] of [
    [post!, automatic(applied)],
    [settled!, automatic(claimed)],
    [reply!, manual(engaged.id)],
  ] as const)
    expect((await pause(story)).in_flight).toEqual(listed)
  expect((await resume(settled!)).in_flight).toEqual(automatic(claimed))
  await endLeases(next)
  await next.owner`update work set run_at = now()`
  for (const story of [post!, settled!, reply!]) expect((await pause(story)).in_flight).toEqual([])
  await resume(post!)
  await post!.settled(applied, 'posted')
  expect(await post!.posts()).toEqual({ [textOf(applied)]: 1 })
})

test('a doubt about a scheduled post is left alone while paused and resolved after', async () => {
  const story = await newStory(app)
  points.arm('send.sent', new Error('the answer was lost'))
  const id = await story.scheduled(0)
  await story.settled(id, 'publish_unconfirmed')
  points.release('send.sent')
  await pause(story)
  const reads = async () => app.owner`select clean_reads from attempt where item_id = ${id}`
  const before = await reads()
  const own = await story.approved()
  await story.postNow(own)
  expect([...(await reads())]).toEqual([...before])
  await resume(story)
  expect(await story.settled(id, 'posted')).toMatchObject({ status: 'posted' })
  expect(await story.posts()).toEqual({ [textOf(id)]: 1, [textOf(own)]: 1 })
})

test('a pause survives a restart of the server', async () => {
  const stopped = await testApp({ database: db.options })
  const story = await newStory(stopped)
  const id = await story.scheduled(3_600_000)
  await pause(story)
  await stopped[Symbol.asyncDispose]()
  await makeItemDue(app, id)
  const restarted = story.at(app)
  const own = await personPostsAfter(restarted, id)
  expect(await restarted.posts()).toEqual({ [textOf(own)]: 1 })
  await resume(restarted)
  await restarted.settled(id, 'posted')
  expect(await restarted.posts()).toEqual({ [textOf(own)]: 1, [textOf(id)]: 1 })
})

test('the kill switch and its end answer beside rows of work whose records are gone or broken', async () => {
  const story = await newStory(app)
  const later = new Date(Date.now() + 3_600_000)
  for (const kind of kindsWhere(({ queued }) => queued === 'cancelled'))
    await insertRecordlessWork(app, story.tenantId, { kind, at: later })
  expect(await pause(story)).toEqual({ paused: true, in_flight: [] })
  await insertRecordlessWork(app, story.tenantId, { kind: 'rule_cron', at: new Date(0) })
  expect(await resume(story)).toEqual({ paused: false, in_flight: [] })
})
