/**
 * Channels over HTTP: those of a new workspace, and the rules they set for drafts and approvals.
 */
import { describe, expect, test } from 'bun:test'
import { createComposer } from '#port/model/composer/composer'
import { softwareProfile } from '#test/support/growth/profiles'
import { newStory, type Story } from '#test/support/growth/story'
import { inlineWorker } from '#test/support/model/inline-worker'
import { useApp } from '#test/support/use'

const app = useApp(() => {
  const composer = createComposer(inlineWorker)
  return {
    overrides: {
      drafter: {
        ...composer,
        draft: (brief, signal) => composer.draft({ ...brief, recent: [] }, signal),
      },
    },
  }
})

type Channel = Record<string, unknown> & { id: string; name: string; cadence: never }

const setUp = async () => {
  const story = await newStory(app)
  const send = (method: string, path: string, body?: unknown) => story.send(method, path, { body })
  const channels = async (): Promise<Channel[]> =>
    (await send('GET', 'overview')).body.overview.channels
  const named = async (name: string) => (await channels()).find((channel) => channel.name === name)!
  const update = async (name: string, patch: object) =>
    send('PUT', `channels/${(await named(name)).id}`, patch)
  const topic = { topic: 'onboarding', length: 'short' }
  return {
    story,
    send,
    channels,
    named,
    update,
    batch: async (count = 5) =>
      story.ended(`batches/${(await send('POST', 'batches', { count })).body.batch.id}`),
    article: async () =>
      story.ended(`articles/${(await send('POST', 'articles', topic)).body.article.id}`),
  }
}

const refusal = ({ status, body }: Awaited<ReturnType<Story['send']>>) => [
  status,
  body.error?.details?.[0]?.path,
  body.error?.message,
]

const { on_missed: _, ...profile } = softwareProfile

describe('a workspace', () => {
  test('starts with four channels, threads inactive, and slots for posts and articles', async () => {
    const { channels } = await setUp()
    const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri']
    expect((await channels()).map(({ name, status, cadence }) => [name, status, cadence])).toEqual([
      [
        'posts',
        'active',
        { days: weekdays, times: ['09:00', '17:00'], time_zone: null, posts_per_day: null },
      ],
      ['threads', 'inactive', { days: [], times: [], time_zone: null, posts_per_day: null }],
      [
        'articles',
        'active',
        { days: ['tue', 'thu'], times: ['12:00'], time_zone: null, posts_per_day: null },
      ],
      ['replies', 'active', { days: [], times: [], time_zone: null, posts_per_day: null }],
    ])
    const ids = (await channels()).map(({ id }) => id)
    expect(ids).toEqual(ids.toSorted())
    for (const id of ids) expect(id[14]).toBe('7')
  })

  test('from before there were channels gets them once', async () => {
    const { story, channels } = await setUp()
    const before = await channels()
    await app.owner`delete from growth_channel where tenant_id = ${story.tenantId}
      and name in ('threads', 'replies')`
    await app.owner`select start_channels(${story.tenantId})`
    await app.owner`select start_channels(${story.tenantId})`
    expect((await channels()).map(({ name }) => name).toSorted()).toEqual(
      before.map(({ name }) => name).toSorted(),
    )
  })
})

describe('an update', () => {
  test('changes the fields it names, for good', async () => {
    const { update, named } = await setUp()
    const patch = {
      format_rules: { max_hashtags: 2, banned_words: ['synergy'] },
      cadence: { times: ['17:00', '08:15'], posts_per_day: 1 },
    }
    const { status, body } = await update('posts', patch)
    expect([status, body.channel.format_rules.max_hashtags, body.channel.cadence.times]).toEqual([
      200,
      2,
      ['08:15', '17:00'],
    ])
    expect(
      (await update('posts', { format_rules: { max_emoji: 0 } })).body.channel.format_rules,
    ).toMatchObject({
      max_hashtags: 2,
      max_emoji: 0,
    })
    expect(
      (await update('posts', { format_rules: { max_hashtags: null } })).body.channel.format_rules
        .max_hashtags,
    ).toBeNull()
    expect(await named('posts')).toMatchObject({
      format_rules: { max_emoji: 0, banned_words: ['synergy'] },
      cadence: { posts_per_day: 1 },
    })
  })

  test('refuses rules that the network cannot satisfy', async () => {
    const { update } = await setUp()
    expect(refusal(await update('posts', { format_rules: { max_length: 281 } }))).toEqual([
      400,
      'format_rules.max_length',
      'format_rules.max_length is 281; the network allows at most 280',
    ])
  })
})

describe('an inactive channel', () => {
  test('refuses new batches, charges nothing and leaves existing drafts alone', async () => {
    const { update, send, story } = await setUp()
    const id = await story.drafted()
    await update('posts', { status: 'inactive' })
    const { status, body } = await send('POST', 'batches', { count: 1 })
    expect([status, body.error?.message]).toEqual([
      409,
      'channel posts is inactive; set its status to active to draft for it',
    ])
    const counters =
      await app.owner`select key from counter where tenant_id = ${story.tenantId} and used > 0`
    expect([...counters]).toEqual([])
    expect((await send('POST', `items/${id}/approve`, {})).status).toBe(200)
    expect((await send('POST', `items/${id}/schedule`, { post_at: 'next_slot' })).status).toBe(200)
    await update('posts', { status: 'active' })
    expect((await send('POST', 'batches', { count: 1 })).status).toBe(201)
  })

  test('for articles refuses articles only', async () => {
    const { update, send } = await setUp()
    await update('articles', { status: 'inactive' })
    const { status, body } = await send('POST', 'articles', { topic: 'docks' })
    expect([status, body.error?.message]).toEqual([
      409,
      'channel articles is inactive; set its status to active to draft for it',
    ])
    expect((await send('POST', 'batches', { count: 1 })).status).toBe(201)
  })
})

describe('rules', () => {
  test('apply to what people approve, edited or not; the error names the rule and by how much it is broken', async () => {
    const { update, send, story } = await setUp()
    await update('posts', { format_rules: { max_hashtags: 2, banned_words: ['Synergy', 'draft'] } })
    const id = await story.drafted()
    expect(
      refusal(await send('POST', `items/${id}/approve`, { edited_body: 'One #a #b #c #d' })),
    ).toEqual([
      400,
      'edited_body',
      'edited_body breaks the rule max_hashtags of channel posts: 4 hashtags, at most 2',
    ])
    expect(refusal(await send('POST', `items/${id}/approve`, {}))).toEqual([
      400,
      'body',
      'body breaks the rule banned_words of channel posts: it contains "draft"',
    ])
    const both = await send('POST', `items/${id}/approve`, { edited_body: '#a #b #c SYNERGY' })
    expect(both.body.error?.details).toHaveLength(2)
    expect((await story.item(id)).status).toBe('drafted')
    expect((await send('POST', `items/${id}/approve`, { edited_body: 'Two #a #b' })).status).toBe(
      200,
    )
  })

  test('apply to batches: every draft satisfies them, and a batch has fewer drafts rather than a bad one', async () => {
    const { update, send, batch } = await setUp()
    await send('PUT', 'profile', profile)
    await update('posts', {
      format_rules: {
        min_length: 100,
        max_length: 220,
        max_line_breaks: 2,
        banned_words: ['onboarding', 'tour'],
      },
    })
    const done = await batch(10)
    expect(done.items.length).toBeGreaterThan(0)
    for (const { body } of done.items as { body: string }[]) {
      expect(body.length).toBeWithin(100, 221)
      expect(body.split('\n').length - 1).toBeLessThanOrEqual(2)
      expect(body).not.toMatch(/\b(?:onboarding|tour)\b/i)
    }
    for (const { id } of done.items)
      expect((await send('POST', `items/${id}/approve`, {})).status).toBe(200)
    await update('posts', { format_rules: { min_length: null, max_length: 5 } })
    const none = await batch(1)
    expect([none.status, none.error]).toEqual([
      'failed',
      expect.stringContaining('within 5 characters'),
    ])
  })

  test('for articles apply to articles; those for posts do not', async () => {
    const { update, send, article } = await setUp()
    await send('PUT', 'profile', profile)
    await update('posts', { format_rules: { max_line_breaks: 0, max_length: 60 } })
    await update('articles', {
      format_rules: { max_line_breaks: 25, banned_words: ['Fridays', 'Friday'] },
    })
    const { item } = await article()
    expect(item.body).not.toMatch(/friday/i)
    expect(item.body.split('\n').length - 1).toBeLessThanOrEqual(25)
    const refused = await send('POST', `items/${item.id}/approve`, {
      edited_body: `${item.body} See you on FRIDAY.`,
    })
    expect(refusal(refused)).toEqual([
      400,
      'edited_body',
      'edited_body breaks the rule banned_words of channel articles: it contains "Friday"',
    ])
    expect((await send('POST', `items/${item.id}/approve`, {})).status).toBe(200)
    await update('articles', { format_rules: { max_line_breaks: 0 } })
    expect((await article()).error).toContain('loosen the rules of channel articles')
  })
})
