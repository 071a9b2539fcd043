/**
 * Audits over HTTP: what worked and what flopped is found in the numbers and saved as learnings,
 * which learnings.test.ts shows at work.
 */
import { describe, expect, test } from 'bun:test'
import { MOST_ACTIVE_LEARNINGS } from '#domain/growth/learning/learning'
import { newId } from '#kernel/ids'
import { insertPosted } from '#test/support/growth/posted'
import { newStory } from '#test/support/growth/story'
import { sameSeed } from '#test/support/model/same-seed'
import { useApp } from '#test/support/use'

const DAY = 86_400_000

const app = useApp({ overrides: { drafter: sameSeed } })

interface Post {
  text: string
  /** Reactions per thousand impressions. */
  rate: number
  ageMs?: number
}

const setUp = async () => {
  const story = await newStory(app)
  const { tenantId } = story
  const send = (method: string, path: string, body?: unknown) => story.send(method, path, { body })
  const audit = async (body: object = {}) => {
    const created = await send('POST', 'audits', body)
    expect([created.status, created.text]).toEqual([201, expect.stringContaining('queued')])
    return story.ended(`audits/${created.body.audit.id}`)
  }
  /** Posts with their metrics; returns their ids. */
  const posted = async (posts: Post[]): Promise<string[]> => {
    const ids: string[] = []
    for (const [index, { text, rate, ageMs = 3 * DAY + index * 60_000 }] of posts.entries()) {
      const counts = [{ impressions: 1000, likes: rate }]
      ids.push(
        await insertPosted(app, tenantId, {
          body: text,
          postedAt: new Date(Date.now() - ageMs),
          counts,
        }),
      )
    }
    return ids
  }
  return {
    tenantId,
    send,
    audit,
    posted,
    list: async (query = '') => (await send('GET', `learnings${query}`)).body.learnings,
  }
}

/** Twelve posts with questions, which do badly, and twelve without; each a little different. */
const planted = (): Post[] =>
  Array.from({ length: 12 }, (_, index) => [
    {
      text: `Every delay starts at the dock, says driver ${'abcdefghijkl'[index]}`,
      rate: 58 + index,
    },
    {
      text: `Does every delay start at the dock, driver ${'abcdefghijkl'[index]}?`,
      rate: 18 + (index % 5),
    },
  ]).flat()

describe('an audit', () => {
  test('finds a planted pattern, with numbers, evidence and wording, and adds a learning that cites it', async () => {
    const { audit, posted, list } = await setUp()
    const ids = await posted(planted())
    const { status, source, days, result, model, id } = await audit()
    expect({ status, source, days, model }).toEqual({
      status: 'ready',
      source: 'synced',
      days: 30,
      model: 'composer',
    })
    expect(result.compared).toHaveLength(result.sample.comparisons)
    expect(result.sample).toMatchObject({ items: 24, too_young: 0, impressions: 24_000 })
    const [claim] = result.flopped
    expect(claim).toMatchObject({
      dimension: 'question',
      value: 'yes',
      measure: 'engagement_rate',
      group: { n: 12 },
      rest: { n: 12 },
    })
    expect(claim.group.mean).toBeLessThan(claim.rest.mean / 2)
    expect(claim.interval.high).toBeLessThan(0)
    expect(claim.wording).toContain(
      'Question posts had an engagement rate of 2.0%, other posts 6.3% (12 and 12 posts)',
    )
    const questions = ids.filter((_, index) => index % 2 === 1)
    expect(claim.item_ids.length).toBeGreaterThan(5)
    for (const item of claim.item_ids) expect(questions).toContain(item)
    expect(result.best[0].item_id).toBe(ids[22])
    expect(questions).toContain(result.worst[0].item_id)
    expect(result.not_enough_data).toBeNull()
    // Every comparison is shown, with what says how sure it is, whether or not a claim was made of
    // it.
    expect(result.compared.length).toBeGreaterThan(result.flopped.length + result.worked.length)
    const { item_ids: _, wording: __, ...flopped } = claim
    expect(result.compared).toContainEqual(flopped)
    const unclear = result.compared.filter(
      ({ interval }: { interval: { low: number; high: number } }) =>
        interval.low < 0 && interval.high > 0,
    )
    expect(unclear.length).toBeGreaterThan(0)
    for (const { group, rest } of result.compared) expect(group.n + rest.n).toBe(24)
    const learnings = await list('?status=active')
    expect(learnings).toHaveLength(1)
    expect(learnings[0]).toMatchObject({
      kind: 'flopped',
      note: 'Question posts get less engagement',
      audit_id: id,
      evidence: claim.item_ids,
    })
    expect(result.learnings).toEqual([
      { id: learnings[0].id, kind: 'flopped', note: 'Question posts get less engagement' },
    ])
  })

  test('adds no learning twice and none beyond the limit, and lists those it left out', async () => {
    const { tenantId, audit, posted, list } = await setUp()
    await posted(planted())
    await audit()
    const again = await audit()
    expect(again.result.not_added).toEqual([
      { kind: 'flopped', note: 'Question posts get less engagement', reason: 'active_already' },
    ])
    expect(await list()).toHaveLength(1)
    await app.owner`update learning set note = 'Something else' where tenant_id = ${tenantId}`
    await app.owner`insert into learning (id, tenant_id, kind, note, status, created_at, updated_at)
      select gen_random_uuid(), ${tenantId}, 'worked', 'Note ' || n, 'active', now(), now()
        from generate_series(2, ${MOST_ACTIVE_LEARNINGS}) n`
    const full = await audit()
    expect(full.result.learnings).toEqual([])
    expect(full.result.not_added).toEqual([
      { kind: 'flopped', note: 'Question posts get less engagement', reason: 'too_many_active' },
    ])
  })

  test('reports that no posts, too few posts or only young posts are not enough data', async () => {
    const { audit, posted } = await setUp()
    const none = await audit()
    expect(none).toMatchObject({
      status: 'ready',
      error: null,
      result: { sample: { items: 0, from: null, to: null }, worked: [], best: [] },
    })
    expect(none.result.not_enough_data).toEqual({
      items: 0,
      needed: 16,
      message: 'Not enough data: no post has metrics yet.',
    })
    await posted([
      ...planted().slice(0, 6),
      { text: 'Young', rate: 900, ageMs: DAY / 2 },
      { text: 'Old', rate: 900, ageMs: 40 * DAY },
    ])
    const few = await audit()
    expect(few.result.sample).toMatchObject({ items: 6, too_young: 1 })
    expect(few.result.not_enough_data).toMatchObject({
      items: 6,
      needed: 16,
      message: expect.stringContaining('8 posts of a kind and 8'),
    })
    expect((await audit({ days: 60 })).result.sample.items).toBe(7)
  })

  test('accepts numbers for items or texts in the request and analyses those', async () => {
    const { audit, posted, send } = await setUp()
    const [item] = await posted([{ text: 'Kept', rate: 1 }])
    const metrics = planted().map(({ text, rate }) => ({
      text,
      impressions: 1_000,
      likes: rate,
      replies: 0,
      reposts: 0,
    }))
    const { source, result } = await audit({
      metrics: [
        ...metrics,
        { item_id: item, impressions: 1_000, likes: 60, replies: 0, reposts: 0 },
      ],
    })
    expect([source, result.sample.items, result.flopped[0]?.dimension]).toEqual([
      'given',
      25,
      'question',
    ])
    expect(result.flopped[0].item_ids).toEqual([])
    const uncounted = metrics.map(({ impressions: _, ...counts }) => counts)
    expect((await audit({ metrics: uncounted })).result).toMatchObject({
      sample: { impressions: null, note: expect.stringContaining('reactions per post') },
      flopped: [{ dimension: 'question', measure: 'reactions' }],
    })
    const field = async (body: object) =>
      (await send('POST', 'audits', body)).body.error?.details?.[0]?.path
    const counts = { impressions: 1, likes: 0, replies: 0, reposts: 0 }
    expect(await field({ metrics: [counts] })).toBe('metrics.0')
    expect(
      (await send('POST', 'audits', { metrics: [{ ...counts, item_id: newId() }] })).status,
    ).toBe(404)
    const { id } = (await send('POST', 'items', { body: 'Every delay starts at the dock.' })).body
      .item
    await send('DELETE', `items/${id}`)
    expect((await send('POST', 'audits', { metrics: [{ ...counts, item_id: id }] })).status).toBe(
      404,
    )
  })
})
