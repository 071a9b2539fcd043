/** People take items back, as late as can be, and delete them. */
import { describe, expect, test } from 'bun:test'
import { sendTimes } from '#domain/growth/sending/times'
import { testFailpoints } from '#test/support/actors/failpoints'
import { setItem } from '#test/support/database/writes'
import { inMs, newStory, type Story, textOf } from '#test/support/growth/story'
import { useApp } from '#test/support/use'

/** The doubt never gets as far as a read of the timeline. */
const times = { ...sendTimes, settleMs: 3_600_000 }
const points = testFailpoints()
const app = useApp({ overrides: { times, failpoints: points.at } })

const reopen = (story: Story, id: string) => story.send('POST', `items/${id}/reopen`)
const reject = (story: Story, id: string) => story.send('POST', `items/${id}/reject`)
const remove = (story: Story, id: string) => story.send('DELETE', `items/${id}`)
const restore = (story: Story, id: string) => story.send('POST', `items/${id}/restore`)
const get = (story: Story, id: string) => story.send('GET', `items/${id}`)
const edit = (story: Story, id: string, change: object = { body: 'Without the typo' }) =>
  story.send('PATCH', `items/${id}`, { body: change })

const auditOf = async (id: string) =>
  (await app.owner`select operation from audit where ref_id = ${id} order by id`).map(
    ({ operation }) => operation.split('.').pop(),
  )

/** Stops the next send at this point, until it is released. */
const stopped = async <T>(point: string, begin: () => Promise<T>): Promise<T> => {
  points.arm(point, 'hang')
  const begun = await begin()
  await points.reached(point)
  return begun
}

test('an approved item becomes a draft, and reopening it again changes nothing', async () => {
  const story = await newStory(app)
  const id = await story.approved('A text')
  const { status, body } = await reopen(story, id)
  expect(status).toBe(200)
  expect(body.item).toMatchObject({
    status: 'drafted',
    body: 'A text',
    account: null,
    decision: { what: 'reopened', by: { kind: 'key' } },
  })
  const again = await reopen(story, id)
  expect([again.status, again.body]).toEqual([200, body])
  expect(await auditOf(id)).toEqual(['approve', 'reopen'])
  expect(await story.events()).toEqual([])
})

test('a scheduled item leaves the schedule, and keeps its time as a proposal', async () => {
  const story = await newStory(app)
  const id = await story.scheduled(3_600_000)
  const { post_at } = await story.item(id)
  expect((await reopen(story, id)).body.item).toMatchObject({
    status: 'drafted',
    post_at: null,
    proposed_at: post_at,
  })
  expect(await story.works(id)).toEqual([])
})

describe('a claimed post that is not yet sent', () => {
  const ways = [
    ['edit', edit, 'drafted'],
    ['reopen', reopen, 'drafted'],
    ['reject', reject, 'rejected'],
    ['delete', remove, 'drafted'],
  ] as const

  test.each(ways)('%s takes it back, and it can be scheduled anew', async (way, take, status) => {
    const story = await newStory(app)
    const id = await stopped('send.claimed', () => story.scheduled(0))
    expect((await take(story, id)).body.item).toMatchObject({ status, post_at: null })
    points.release('send.claimed')
    expect([await story.attempts(id), await story.works(id)]).toEqual([['unsent'], []])
    if (way === 'delete') await restore(story, id)
    if (way === 'reject') await reopen(story, id)
    await story.send('POST', `items/${id}/approve`, { body: { edited_body: 'Without the typo' } })
    await story.send('POST', `items/${id}/schedule`, { body: { post_at: inMs(0) } })
    await story.settled(id, 'posted')
    expect(await story.posts()).toEqual({ 'Without the typo': 1 })
    expect(await story.attempts(id)).toEqual(['unsent', 'posted'])
  })

  test('goes out if the change is refused that would take it back', async () => {
    const story = await newStory(app)
    const id = await stopped('send.claimed', () => story.scheduled(0))
    for (const change of [
      { body: 'A bell\u0007' },
      { body: 'Late', revision: 7 },
      { account: '018f47a0-0000-7000-8000-000000000000' },
    ])
      expect((await edit(story, id, change)).status).toBeGreaterThanOrEqual(400)
    points.release('send.claimed')
    await story.settled(id, 'posted')
    expect(await story.attempts(id)).toEqual(['posted'])
    expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
  })

  test('whoever waits for it learns that nothing was sent, and a retry sends nothing', async () => {
    const story = await newStory(app)
    const id = await story.approved()
    const [asked] = await stopped('send.claimed', async () => [story.postNow(id, 'post it')])
    expect((await reopen(story, id)).body.item.status).toBe('drafted')
    const reply = await asked!
    expect([reply.status, reply.body.error?.message]).toEqual([
      409,
      expect.stringContaining('taken back'),
    ])
    expect(reply.body.error).toMatchObject({ reason: 'taken_back', by: { kind: 'key' } })
    points.release('send.claimed')
    await story.send('POST', `items/${id}/approve`, { body: { edited_body: 'Another text' } })
    const retried = await story.postNow(id, 'post it')
    expect([
      retried.status,
      retried.body.item.status,
      retried.headers.get('idempotency-replayed'),
    ]).toEqual([202, 'drafted', 'true'])
    expect(await story.posts()).toEqual({})
  })

  test('goes out if the letter fails that would take it back', async () => {
    const story = await newStory(app)
    const id = await stopped('send.claimed', () => story.scheduled(0))
    points.arm('letter.deciding:growth.items.reopen', new Error('the letter fails'))
    expect((await reopen(story, id)).status).toBe(500)
    points.release('letter.deciding:growth.items.reopen')
    points.release('send.claimed')
    await story.settled(id, 'posted')
    expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
    expect(await story.attempts(id)).toEqual(['unsent', 'posted'])
  })
})

test('a post whose request is out cannot be taken back', async () => {
  const story = await newStory(app)
  const id = await stopped('sandbox.received', () => story.scheduled(0))
  const refused = await edit(story, id)
  expect([refused.status, refused.body.error?.reason, refused.body.error?.details]).toEqual([
    409,
    'in_flight',
    [
      { path: 'in_flight', message: expect.any(String) },
      { path: 'next', message: `growth.items.get ${id}` },
    ],
  ])
  points.release('sandbox.received')
  expect((await story.settled(id, 'posted')).body).toBe(textOf(id))
})

describe('a deleted item', () => {
  test('is in no list, and is restored as it was', async () => {
    const story = await newStory(app)
    const id = await story.drafted()
    await reject(story, id)
    const before = (await get(story, id)).body.item
    expect((await remove(story, id)).body.item).toMatchObject({ id, status: 'rejected' })
    for (const gone of [await get(story, id), await remove(story, id), await reopen(story, id)])
      expect(gone.status).toBe(404)
    for (const list of ['items', 'items?status=rejected'])
      expect((await story.send('GET', list)).body.items).toEqual([])
    const { item } = (await restore(story, id)).body
    expect(before).toMatchObject({ ...item, updated_at: before.updated_at })
    expect((await restore(story, id)).body.item).toEqual(item)
    expect(await auditOf(id)).toEqual(['reject', 'remove', 'restore'])
  })

  test('that was scheduled is a draft when it is restored', async () => {
    const story = await newStory(app)
    const id = await story.scheduled(3_600_000)
    const { post_at } = await story.item(id)
    await remove(story, id)
    expect(await story.works(id)).toEqual([])
    expect((await restore(story, id)).body.item).toMatchObject({
      status: 'drafted',
      post_at: null,
      proposed_at: post_at,
    })
  })
})

test('an item that an earlier attempt may have posted is not deleted', async () => {
  const story = await newStory(app)
  points.arm('send.sent', new Error('the answer was lost'))
  const id = await story.scheduled(0)
  await story.settled(id, 'publish_unconfirmed')
  points.release('send.sent')
  await app.owner`update attempt set state = 'returned', ended_at = now() where item_id = ${id}`
  await setItem(app, id, { status: 'approved', post_at: null })
  const refused = await remove(story, id)
  expect([refused.status, refused.body.error?.message]).toEqual([
    409,
    expect.stringContaining('may be on the network'),
  ])
})
