/** What a console shows first: counts, the calendar, and numbers over time. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { insertItem } from '#test/support/database/writes'
import { insertCounts, insertPosted } from '#test/support/growth/posted'
import { newStory } from '#test/support/growth/story'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()
const HOUR_MS = 3_600_000
const at = (text: string): Date => new Date(text)

test('counts tell how much there is in each state, and what is due', async () => {
  const { tenantId, send } = await newStory(app)
  await insertItem(app, (await app.newWorkspace()).tenantId)
  const soon = new Date(Date.now() + HOUR_MS)
  const rows = [
    {},
    {},
    { status: 'approved' },
    { status: 'approved', post_at: soon },
    { status: 'approved', post_at: new Date(Date.now() - HOUR_MS) },
    { status: 'approved', post_at: new Date(Date.now() + 48 * HOUR_MS) },
    { status: 'rejected' },
    { status: 'posted', posted_at: soon },
    { status: 'publish_unconfirmed', review: true },
    { status: 'publish_unconfirmed' },
  ]
  for (const row of rows) await insertItem(app, tenantId, row)
  const { status, body } = await send('GET', 'counts')
  expect(status).toBe(200)
  expect(body.counts.items).toEqual({
    drafted: 2,
    approved: 4,
    scheduled: 3,
    publishing: 0,
    posted: 1,
    rejected: 1,
    publish_failed: 0,
    publish_unconfirmed: 2,
  })
  expect([body.counts.review, body.counts.signals, body.counts.due_24h]).toEqual([
    { items: 1, engagements: 0 },
    0,
    2,
  ])
  expect(Object.values(body.counts.engagements).every((count) => count === 0)).toBe(true)
})

describe('the calendar', () => {
  test('has items in order of time, and the slots of the cadence with what holds them', async () => {
    const { tenantId, send, changeChannel } = await newStory(app)
    const times = ['09:00', '15:00']
    await changeChannel('posts', {
      cadence: { days: ['mon', 'tue'], times, posts_per_day: 2, time_zone: 'UTC' },
    })
    // 5 January 2026 was a Monday.
    const late = await insertPosted(app, tenantId, {
      body: 'Late',
      postedAt: at('2026-01-05T09:20:00Z'),
    })
    const extra = await insertPosted(app, tenantId, {
      body: 'Extra',
      postedAt: at('2026-01-05T11:00:00Z'),
    })
    const held = await insertItem(app, tenantId, {
      status: 'approved',
      body: 'x'.repeat(500),
      post_at: at('2026-01-06T15:00:30Z'),
    })
    await insertItem(app, tenantId, { status: 'approved', post_at: at('2026-02-06T15:00:00Z') })
    await insertItem(app, tenantId, { created_at: at('2026-01-06T12:00:00Z') })
    const reply = await send('GET', 'calendar?from=2026-01-05T00:00:00Z&to=2026-01-08T00:00:00Z')
    expect([reply.status, reply.body.error]).toEqual([200, undefined])
    // The cadence of articles has slots of its own.
    const entries = reply.body.entries.filter(
      ({ channel }: { channel: string }) => channel === 'posts',
    )
    const shown = entries.map(
      ({
        at: time,
        slot,
        item,
      }: {
        at: string
        slot: string | null
        item: { id: string } | null
      }) => [time.slice(5, 16), slot?.slice(5, 16) ?? null, item?.id ?? null],
    )
    // Monday has its two posts, so its slot of the afternoon is not offered.
    expect(shown).toEqual([
      ['01-05T09:20', '01-05T09:00', late],
      ['01-05T11:00', null, extra],
      ['01-06T09:00', '01-06T09:00', null],
      ['01-06T15:00', '01-06T15:00', held],
    ])
    expect(entries.at(-1)).toMatchObject({
      channel: 'posts',
      item: { status: 'approved', excerpt: 'x'.repeat(140), title: null },
    })
    const part = await send('GET', 'calendar?from=2026-01-05T10:00:00Z&to=2026-01-06T09:00:01Z')
    expect(
      part.body.entries
        .filter(({ channel }: { channel: string }) => channel === 'posts')
        .map(({ at: time }: { at: string }) => time.slice(5, 16)),
    ).toEqual(['01-05T11:00', '01-06T09:00'])
  })

  const refused: [query: string, path: string, message: string][] = [
    ['from=2026-01-05T00:00:00Z&to=2026-01-05T00:00:00Z', 'to', 'must be later than from'],
    [
      'from=2026-01-05T00:00:00Z&to=2026-04-05T00:00:00Z',
      'to',
      'must be at most 62 days after from',
    ],
  ]
  test.each(refused)('refuses %s', async (query, path, message) => {
    const { send } = await newStory(app)
    const { status, body } = await send('GET', `calendar?${query}`)
    expect([status, body.error.details[0]]).toEqual([
      400,
      { path, message: expect.stringContaining(message) },
    ])
  })

  test('refuses more items than it can show', async () => {
    const { tenantId, send } = await newStory(app)
    await app.owner`insert into item (id, tenant_id, kind, status, body, format, hook, rationale,
      stories, learnings, length, post_at, created_at, updated_at)
      select gen_random_uuid(), ${tenantId}, 'post', 'approved', 'x', 'point', 'none', '', '[]',
        '[]', 1, '2026-01-05T00:00:00Z'::timestamptz + n * interval '1 minute', now(), now()
      from generate_series(1, 1001) n`
    const { status, body } = await send(
      'GET',
      'calendar?from=2026-01-05T00:00:00Z&to=2026-01-08T00:00:00Z',
    )
    expect([status, body.error.details[0].path]).toEqual([400, 'to'])
    expect(body.error.message).toContain('more than 1000 items')
  })
})

describe('numbers', () => {
  test('by day and by week have n and an interval', async () => {
    const { tenantId, send } = await newStory(app)
    await send('PUT', 'profile', { body: { time_zone: 'Europe/Berlin' } })
    const post = async (postedAt: string, impressions: number, likes: number) => {
      const id = await insertPosted(app, tenantId, { postedAt })
      await app.owner`update item set metrics =
        ${app.owner.json({ impressions, likes, replies: 0, reposts: 0, quotes: 0, clicks: 1, at: postedAt } as never)} where id = ${id}`
    }
    // By the clocks of Berlin, the first of these is posted on Tuesday.
    await post('2026-01-05T23:30:00Z', 100, 10)
    await post('2026-01-06T12:00:00Z', 100, 20)
    await post('2026-01-06T13:00:00Z', 0, 0)
    await post('2026-01-11T12:00:00Z', 200, 20)
    const days = (await send('GET', 'metrics?from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z'))
      .body.metrics
    expect(
      days.map(({ day, posts, measured, impressions, likes }: Record<string, unknown>) => [
        day,
        posts,
        measured,
        impressions,
        likes,
      ]),
    ).toEqual([
      ['2026-01-11', 1, 1, 200, 20],
      ['2026-01-06', 3, 2, 200, 30],
    ])
    expect([days[0].engagement_rate, days[0].interval]).toEqual([expect.closeTo(0.1), null])
    // t for one degree of freedom is 12.706, so the interval of two rates is as wide as it can be.
    expect([days[1].engagement_rate, days[1].interval]).toEqual([
      expect.closeTo(0.15),
      { low: 0, high: expect.closeTo(0.15 + 12.706 * 0.05, 3) },
    ])
    const weeks = (
      await send('GET', 'metrics?by=week&from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z')
    ).body.metrics
    expect(weeks).toHaveLength(1)
    expect(weeks[0]).toMatchObject({
      day: '2026-01-05',
      posts: 4,
      measured: 3,
      impressions: 400,
      clicks: 4,
      engagement_rate: expect.closeTo(0.4 / 3),
    })
    expect((await send('GET', 'metrics')).body.metrics).toEqual([])
    const { status, body } = await send(
      'GET',
      'metrics?from=2024-01-01T00:00:00Z&to=2026-02-01T00:00:00Z',
    )
    expect([status, body.error.details[0]]).toEqual([
      400,
      { path: 'to', message: 'must be at most 366 days after from' },
    ])
  })

  test('of accounts that count differently are neither summed nor compared', async () => {
    const { tenantId, send, ended } = await newStory(app)
    const account = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz'
    await app.owner`insert into connection (id, tenant_id, network, external_id, handle, status,
      is_default, created_at, updated_at)
      values (${newId()}, ${tenantId}, 'bluesky', ${account}, 'dock.example', 'connected', false,
        now(), now())`
    // A week ago, so that all of them are of one day.
    const postedAt = new Date(Date.now() - 7 * 24 * HOUR_MS)
    const post = (count?: { impressions: number | null; likes: number }) =>
      insertPosted(app, tenantId, {
        hook: 'admission',
        postedAt,
        ...(count && { counts: [{ ...count, at: postedAt }] }),
        ...(count?.impressions === 100 ? {} : { account }),
      })
    for (let index = 0; index < 5; index++) await post({ impressions: 100, likes: 10 })
    for (let index = 0; index < 3; index++) await post({ impressions: null, likes: 900 })
    // Not read yet: the network of its account tells that it belongs with the three.
    await post()

    const { metrics } = (await send('GET', 'metrics')).body
    expect(metrics).toMatchObject([
      {
        counts_impressions: true,
        posts: 5,
        measured: 5,
        impressions: 500,
        likes: 50,
        clicks: 0,
        engagement_rate: expect.closeTo(0.1),
        reactions_per_post: null,
      },
      {
        counts_impressions: false,
        posts: 4,
        measured: 3,
        impressions: null,
        likes: 2_700,
        clicks: null,
        engagement_rate: null,
        reactions_per_post: 900,
      },
    ])
    expect(metrics[0].day).toBe(metrics[1].day)

    const { hooks } = (await send('GET', 'hooks?limit=100')).body
    expect(hooks.find(({ id }: { id: string }) => id === 'admission')).toMatchObject({
      posted: 9,
      measured: 5,
      engagement_rate: expect.closeTo(0.1),
      measured_by_reactions: 3,
      reactions_per_post: null,
    })

    const { report } = (
      await send('POST', 'reports', { body: { week: postedAt.toISOString().slice(0, 10) } })
    ).body
    const { data } = await ended(`reports/${report.id}`)
    expect(data.totals).toMatchObject({ posts: 5, impressions: 500, reactions: 50 })
    expect(data.note).toBe(
      '4 posts are left out, since their network does not count impressions: what is counted differently is not summed.',
    )

    const { audit } = (await send('POST', 'audits', { body: {} })).body
    const { result } = await ended(`audits/${audit.id}`)
    expect(result.sample).toMatchObject({ items: 8, impressions: 500, reactions: 50 })
    expect(result.best[0]).toMatchObject({ impressions: 100, reactions: 10 })
  })

  test('of an item over time come in pages, newest first', async () => {
    const { tenantId, send } = await newStory(app)
    const id = await insertPosted(app, tenantId, {})
    const counts = [1, 2, 3].map((n) => ({
      at: at(`2026-01-0${n}T09:00:00Z`),
      impressions: n * 100,
      likes: n,
    }))
    await insertCounts(app, { tenantId, itemId: id }, counts)
    const first = (await send('GET', `items/${id}/metrics?limit=2`)).body
    expect(
      first.metrics.map(({ impressions, engagement_rate }: Record<string, unknown>) => [
        impressions,
        engagement_rate,
      ]),
    ).toEqual([
      [300, 0.01],
      [200, 0.01],
    ])
    const rest = (await send('GET', `items/${id}/metrics?limit=2&cursor=${first.next_cursor}`)).body
    expect([
      rest.metrics.map(({ impressions }: { impressions: number }) => impressions),
      rest.next_cursor,
    ]).toEqual([[100], null])
  })
})
