/** What people are told of a text before they approve or schedule it. Warnings refuse nothing. */
import { expect, test } from 'bun:test'
import { testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { inMs, newStory, type Story } from '#test/support/growth/story'
import { use } from '#test/support/use'

const db = use(freshDb)
const app = use(() => testApp({ database: db.options, env: { SANDBOX_TIER: 'payg' } }))

const TEXT =
  'Every delay starts at the dock. We counted eleven of fourteen late parcels that had waited there for a van.'

const approve = async (story: Story, id: string, body?: string) =>
  (
    await story.send(
      'POST',
      `items/${id}/approve`,
      body === undefined ? {} : { body: { edited_body: body } },
    )
  ).body.item
const codes = ({ warnings }: { warnings: { code: string }[] }) => warnings.map(({ code }) => code)
const preview = async (story: Story, body: Record<string, unknown>) =>
  (await story.send('POST', 'items/preview', { body })).body.preview

test('a text nearly equal to one that is approved, scheduled or posted is a warning, until that one is a draft again', async () => {
  const story = await newStory(app)
  const first = await story.drafted()
  expect(codes(await approve(story, first, TEXT))).toEqual([])
  const near = TEXT.replace('eleven', 'twelve')
  expect((await preview(story, { body: near })).warnings).toEqual([
    {
      code: 'repeats_item',
      message: `says nearly the same as item ${first}, which is approved`,
      item_id: first,
    },
  ])
  expect(codes(await preview(story, { body: near, item_id: first }))).toEqual([])
  await story.send('POST', `items/${first}/schedule`, { body: { post_at: inMs(86_400_000) } })
  const second = await story.drafted()
  expect((await approve(story, second, near)).warnings[0]).toMatchObject({
    code: 'repeats_item',
    item_id: first,
  })
  const due = await story.send('POST', `items/${second}/schedule`, {
    body: { post_at: inMs(90_000_000) },
  })
  expect(codes(due.body.item)).toContain('repeats_item')
  await story.send('POST', `items/${first}/reopen`)
  expect(codes(await preview(story, { body: near, item_id: second }))).toEqual([])
})

test("a text of one's own has its warnings when it is written, changed and read", async () => {
  const story = await newStory(app)
  await story.send('PUT', 'profile', { body: { writing_dna: { avoid: ['synergy'] } } })
  const first = await story.approved(TEXT)
  const { item } = (await story.send('POST', 'items', { body: { body: TEXT } })).body
  expect(item.warnings).toMatchObject([{ code: 'repeats_item', item_id: first }])
  const edited = (
    await story.send('PATCH', `items/${item.id}`, {
      body: { body: 'Synergy, see https://example.com.' },
    })
  ).body.item
  expect(codes(edited)).toEqual(['avoided_phrase', 'costly_link'])
  expect((await story.send('GET', `items/${item.id}`)).body.item.warnings).toEqual(edited.warnings)
  expect(codes((await story.send('GET', `items/${first}`)).body.item)).toEqual([])
  await story.send('DELETE', `items/${item.id}`)
  for (const _ of ['restored', 'there already'])
    expect((await story.send('POST', `items/${item.id}/restore`)).body.item.warnings).toEqual(
      edited.warnings,
    )
  const { items } = (await story.send('GET', 'items')).body
  expect(
    items.map((one: { id: string; warnings: { code: string }[] }) => [one.id, codes(one)]),
  ).toEqual([
    [item.id, ['avoided_phrase', 'costly_link']],
    [first, []],
  ])
  expect((await story.send('GET', 'overview')).body.overview.drafted[0].warnings).toEqual(
    edited.warnings,
  )
})

test('a connection says what its network accepts and costs', async () => {
  const story = await newStory(app)
  const limits = {
    max_length: 280,
    max_article_length: 25_000,
    actions: ['reply', 'quote', 'repost', 'like'],
    read_back: true,
    prices: {
      post: 15_000,
      post_with_link: 200_000,
      reply: 10_000,
      interaction: 15_000,
      read_post: 5_000,
      read_own_post: 1_000,
    },
  }
  expect((await story.send('GET', 'connection')).body.connection.limits).toMatchObject(limits)
  expect((await story.send('GET', 'connections')).body.networks).toMatchObject([
    { network: 'sandbox', limits },
  ])
})

test('a text that repeats nothing has no warning, however many others there are', async () => {
  const story = await newStory(app)
  for (const day of ['Monday', 'Tuesday', 'Wednesday'])
    await approve(story, await story.drafted(), `${day}: ${day.repeat(9)} is another day.`)
  expect(
    codes(
      await preview(story, {
        body: 'The shop is open from nine to five, and on Saturdays until noon.',
      }),
    ),
  ).toEqual([])
})

test('a time that is no slot of the cadence is a warning; a slot is none', async () => {
  const story = await newStory(app)
  const cadence = {
    days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
    times: ['09:00'],
    time_zone: 'UTC',
  }
  await story.changeChannel('posts', { cadence })
  const id = await story.approved(TEXT)
  const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10)
  const at = async (time: string) =>
    (await story.send('POST', `items/${id}/schedule`, { body: { post_at: `${day}T${time}:00Z` } }))
      .body.item
  expect(codes(await at('10:30'))).toEqual(['outside_cadence'])
  expect(codes(await at('09:00'))).toEqual([])
})

test('a preview says all that approving would, and changes nothing', async () => {
  const story = await newStory(app)
  await story.changeChannel('posts', { format_rules: { max_hashtags: 0, max_emoji: 0 } })
  const body = 'Look at https://example.com/docks #docks 🚚'
  expect(await preview(story, { body })).toMatchObject({
    body,
    content_hash: new Bun.CryptoHasher('sha256').update(body).digest('hex'),
    length: 41,
    max_length: 280,
    can_be_approved: false,
    faults: [
      'breaks the rule max_emoji of channel posts: 1 emoji, at most 0',
      'breaks the rule max_hashtags of channel posts: 1 hashtag, at most 0',
    ],
    warnings: [
      {
        code: 'costly_link',
        message: 'contains a link: the post costs $0.200, without one $0.015',
        item_id: null,
      },
    ],
    cost_micros: 200_000,
  })
  expect(await preview(story, { body: 'x'.repeat(281) })).toMatchObject({
    can_be_approved: false,
    length: 281,
    cost_micros: 15_000,
  })
  expect((await preview(story, { body: 'x'.repeat(281), kind: 'article' })).can_be_approved).toBe(
    true,
  )
  const unknown = await story.send('POST', 'items/preview', {
    body: { body, account: crypto.randomUUID() },
  })
  expect([unknown.status, unknown.body.error.message]).toEqual([404, 'no such account'])
  expect(
    (await story.send('POST', 'items/preview', { body: { body: ' ' } })).body.preview.faults,
  ).toEqual(['is empty'])
  expect(await story.events()).toEqual([])
})

test('a preview is of the text that would be stored: its line ends are newlines', async () => {
  const story = await newStory(app)
  const body = 'One\r\ntwo\rthree\u2028four\u0085five'
  const { item } = (await story.send('POST', 'items', { body: { body } })).body
  expect(item.body).toBe('One\ntwo\nthree\nfour\nfive')
  const { content_hash, length } = item
  expect(await preview(story, { body, item_id: item.id })).toMatchObject({
    body: item.body,
    content_hash,
    length,
    can_be_approved: true,
  })
  const bell = { body: 'Ring\u0007' }
  const refused = await story.send('POST', 'items', { body: bell })
  const { can_be_approved, faults } = await preview(story, bell)
  expect([refused.status, can_be_approved]).toEqual([400, false])
  expect(refused.body.error.message).toContain(faults[0])
})

test('characters that nobody would see are a warning with their count and first place, and the text stays as it is', async () => {
  const story = await newStory(app)
  const body = `🎉 Pay\u202e us\u200b. ${TEXT}`
  const { item } = (await story.send('POST', 'items', { body: { body } })).body
  const found = {
    code: 'unseen_characters',
    message: 'has 2 characters that nobody would see, the first U+202E at character 6',
    item_id: null,
  }
  expect([item.body, item.warnings]).toEqual([body, [found]])
  expect((await preview(story, { body })).warnings).toContainEqual(found)
  expect((await approve(story, item.id)).warnings).toEqual([found])
  const family = (await story.send('POST', 'items', { body: { body: 'For the 👨‍👩‍👧‍👦 می‌خواهم' } }))
    .body.item
  expect(codes(family)).toEqual([])
})
