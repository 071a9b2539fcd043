/** One decision on many items: each succeeds or fails for itself, in commits of twenty. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { testFailpoints } from '#test/support/actors/failpoints'
import { inMs, newStory, type Story } from '#test/support/growth/story'
import { tokenOf } from '#test/support/session'
import { useApp } from '#test/support/use'

const points = testFailpoints()
const app = useApp({ overrides: { failpoints: points.at } })

interface Result {
  id: string
  item: { id: string; status: string; post_at: string | null; tags: string[] } | null
  error: { code: string; message: string; details: { path: string; message: string }[] } | null
}

const bulk = (
  story: Story,
  action: string,
  items: object[],
  headers: Record<string, string> = {},
) => story.send('POST', 'items/bulk', { body: { action, items }, headers })
const results = async (...asked: Parameters<typeof bulk>): Promise<Result[]> =>
  (await bulk(...asked)).body.results
const states = (all: Result[]) => all.map(({ item, error }) => item?.status ?? error?.code)
const drafts = async (story: Story, count: number): Promise<string[]> => {
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push(await story.drafted())
  return ids
}
const hashOf = async (story: Story, id: string) =>
  ((await story.send('GET', `items/${id}`)).body.item as { content_hash: string }).content_hash
const seen = (story: Story, ids: string[]) =>
  Promise.all(ids.map(async (id) => ({ id, expect_hash: await hashOf(story, id) })))
const auditOf = async ({ tenantId }: Story) =>
  (
    await app.owner`select operation, ref_id from audit where tenant_id = ${tenantId}
      and operation like 'growth.items.%' and ref_id is not null order by id`
  ).map(({ operation, ref_id }) => [operation, ref_id])

test('each item has its own result, in order, and its own audit row', async () => {
  const story = await newStory(app)
  const [one, posted, other] = (await drafts(story, 3)) as [string, string, string]
  const [seenOne, seenOther] = (await seen(story, [one, other])) as [object, object]
  const wrong = { id: posted, expect_hash: '0'.repeat(64) }
  const all = await results(story, 'approve', [
    seenOther,
    { id: newId(), expect_hash: '0'.repeat(64) },
    wrong,
    seenOne,
  ])
  expect(states(all)).toEqual(['approved', 'not_found', 'conflict', 'approved'])
  expect(all[2]!.error!.details).toEqual([
    { path: 'content_hash', message: await hashOf(story, posted) },
  ])
  expect(await auditOf(story)).toEqual([
    ['growth.items.approve', other],
    ['growth.items.approve', one],
  ])
})

test('approved and scheduled together, all are posted when due', async () => {
  const story = await newStory(app)
  const ids = await drafts(story, 3)
  const all = await results(
    story,
    'approve',
    (await seen(story, ids)).map((one) => ({ ...one, post_at: inMs(0) })),
  )
  expect(states(all)).toEqual(['approved', 'approved', 'approved'])
  for (const id of ids) await story.settled(id, 'posted')
  expect(Object.values(await story.posts())).toEqual([1, 1, 1])
})

test('a time that the earliest of several items leaves wakes the workspace for the others', async () => {
  const story = await newStory(app)
  const [first, second] = [await story.scheduled(1_800_000), await story.scheduled(7_200_000)]
  await results(story, 'unschedule', [{ id: first }])
  const later = inMs(3_600_000)
  await results(story, 'schedule', [
    { id: second, post_at: inMs(10_800_000) },
    { id: first, post_at: later },
  ])
  const [row] = await app.owner<
    { wake_at: Date }[]
  >`select wake_at from actor where tenant_id = ${story.tenantId}`
  expect(row!.wake_at.toISOString()).toBe(later)
})

describe('a request', () => {
  test('that names an item twice, lacks a hash or says too much is refused as a whole', async () => {
    const story = await newStory(app)
    const id = await story.drafted()
    const refused = async (action: string, items: object[]) =>
      (await bulk(story, action, items)).body.error?.details?.[0]?.path
    expect(await refused('reject', [{ id }, { id }])).toBe('items.1.id')
    expect(await refused('approve', [{ id }])).toBe('items.0.expect_hash')
    expect(await refused('schedule', [{ id }])).toBe('items.0.post_at')
    expect(await refused('reject', [{ id, tags: ['a'] }])).toBe('items.0.tags')
    expect(
      await refused(
        'reject',
        Array.from({ length: 101 }, () => ({ id: newId() })),
      ),
    ).toBe('items')
    expect((await story.item(id)).status).toBe('drafted')
  })

  test('of 45 items is decided in three commits; repeated under its key after a failure, it goes on where it stopped', async () => {
    const story = await newStory(app)
    const items = (await drafts(story, 45)).map((id) => ({ id }))
    let apart = 0
    // In the middle of the second commit.
    points.arm('letter.apart', () => {
      if (++apart === 30) throw new Error('the letter fails')
    })
    const key = { 'idempotency-key': 'x'.repeat(200) }
    expect((await bulk(story, 'reject', items, key)).status).toBe(500)
    points.release('letter.apart')
    expect((await story.send('GET', 'items?status=rejected&limit=100')).body.items).toHaveLength(20)
    const whole = await bulk(story, 'reject', items, key)
    expect([whole.status, whole.headers.get('idempotency-replayed')]).toEqual([200, null])
    expect((whole.body.results as Result[]).map(({ id, item }) => [id, item?.status])).toEqual(
      items.map(({ id }) => [id, 'rejected']),
    )
    const replay = await bulk(story, 'reject', items, key)
    expect([replay.text, replay.headers.get('idempotency-replayed')]).toEqual([whole.text, 'true'])
    expect(await auditOf(story)).toHaveLength(45)
    expect((await bulk(story, 'reject', items.slice(0, 20), key)).status).toBe(422)
  })

  test('of an editor may not approve', async () => {
    const story = await newStory(app)
    const [first] = await seen(story, await drafts(story, 1))
    const key = await tokenOf(app, story.tenantId, 'editor')
    const refused = await story.send('POST', 'items/bulk', {
      body: { action: 'approve', items: [first] },
      key,
    })
    expect([refused.status, refused.body.error?.code]).toEqual([403, 'forbidden'])
    const { id } = first as { id: string }
    expect(
      (await story.send('POST', 'items/bulk', { body: { action: 'reject', items: [{ id }] }, key }))
        .status,
    ).toBe(200)
  })
})
