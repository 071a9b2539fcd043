/** What a workspace has of an account beside sending: its fit for drafts, and what others say. */
import { expect, test } from 'bun:test'
import { makeDue, setItem } from '#test/support/database/writes'
import { eventually } from '#test/support/eventually'
import { wake } from '#test/support/growth/returned'
import { textOf } from '#test/support/growth/story'
import {
  type BlueskyStory,
  connectedPerson,
  newPerson,
  newStranger,
  openBlueskyApp,
} from '#test/support/network/bluesky-app'
import { use } from '#test/support/use'

const opened = use(() => openBlueskyApp({ replyWithinMs: 20_000 }))

const POST = 'app.bsky.feed.post'

/** What the row that reads for the account remembers, while it waits for the next read. */
const memory = async ({ row }: BlueskyStory): Promise<string> => {
  const [work] = await opened.app.owner`select payload from work where kind = 'mentions'
    and state = 'queued' and ref_id = ${String((await row()).id)}`
  return JSON.stringify(work?.payload ?? {})
}
const untilRead = (person: BlueskyStory, before = '{}') =>
  eventually(
    () => memory(person),
    (now) => now !== '{}' && now !== before,
  )
const readAgain = async (person: BlueskyStory): Promise<void> => {
  const before = await untilRead(person)
  await makeDue(opened.app, String((await person.row()).id), { kind: 'mentions' })
  await wake(person.story)
  await untilRead(person, before)
}
const signalsOf = async ({ story }: BlueskyStory, status = 'open') =>
  (await story.send('GET', `signals?status=${status}`)).body.signals
const accountOf = async ({ story }: BlueskyStory) =>
  (await story.send('GET', 'connection')).body.connection.account

test('arrives as signals, each once whatever is forgotten, and nothing answers by itself', async () => {
  opened.pds.appView = true
  const person = await connectedPerson(opened)
  await untilRead(person)
  const { story, connect, row, posts } = person
  const { did, handle } = person.person
  const own = await story.approved()
  await story.postNow(own)
  const [made] = opened.pds.records(did, POST)
  const subject = { uri: made!.uri, cid: made!.cid }
  const { handle: author, write } = await newStranger(opened)
  const facet = {
    index: { byteStart: 4, byteEnd: 5 + handle.length },
    features: [{ $type: 'app.bsky.richtext.facet#mention', did }],
  }
  const said = [
    await write(POST, { text: 'Why?', reply: { root: subject, parent: subject } }),
    await write(POST, { text: `Ask @${handle}`, facets: [facet] }),
    await write(POST, {
      text: 'Read it.',
      embed: { $type: 'app.bsky.embed.record', record: subject },
    }),
  ]
  await write('app.bsky.feed.like', { subject })
  await readAgain(person)
  const signals = await signalsOf(person)
  expect(signals.map(({ post }: { post: { id: string } }) => post.id).toSorted()).toEqual(
    said.map((one) => one.uri).toSorted(),
  )
  for (const signal of signals)
    expect(signal).toMatchObject({
      target_id: null,
      post: { network: 'bluesky', author, addresses_us: true },
      reasons: expect.arrayContaining(['addresses your account']),
    })
  expect(signals[0]).toMatchObject({ post: { id: said[0]!.uri, text: 'Why?' } })
  expect(await story.used('reads_free')).toBe(4)

  await story.send('POST', `signals/${signals[0].id}/dismiss`)
  await opened.app.owner`delete from work where kind = 'mentions'
    and ref_id = ${String((await row()).id)}`
  expect((await connect()).status).toBe(201)
  await untilRead(person)
  expect((await signalsOf(person)).map(({ id }: { id: string }) => id)).toEqual(
    signals.slice(1).map(({ id }: { id: string }) => id),
  )
  expect(await signalsOf(person, 'dismissed')).toHaveLength(1)
  expect((await story.send('GET', 'engagements')).body.engagements).toEqual([])
  expect(posts()).toEqual({ [textOf(own)]: 1 })
})

test('cannot be read without an AppView: the connection says so until there is one, and an ended session is renewed', async () => {
  opened.pds.appView = false
  const person = await connectedPerson(opened)
  const { story, posts } = person
  await untilRead(person)
  expect(await accountOf(person)).toMatchObject({
    status: 'connected',
    reading_reason: expect.stringContaining('no AppView'),
  })
  const id = await story.approved()
  expect((await story.postNow(id)).status).toBe(200)
  expect(posts()).toEqual({ [textOf(id)]: 1 })
  expect(await story.used('reads_free')).toBe(0)
  opened.pds.appView = true
  await readAgain(person)
  expect((await accountOf(person)).reading_reason).toBeNull()
  const { credentials } = await person.row()
  opened.pds.expireAccess()
  await readAgain(person)
  await eventually(person.row, (row) => row.credentials !== credentials)
  await readAgain(person)
  expect(await accountOf(person)).toMatchObject({ status: 'connected', reading_reason: null })
})

test('drafts and articles that the account cannot take are named before anything is spent on them', async () => {
  const { story, connect } = await newPerson(opened)
  const ids: string[] = []
  for (const body of [
    'Every delay starts at the dock.',
    'a'.repeat(301),
    'Ask @levelsio, he knows.',
  ])
    ids.push((await story.send('POST', 'items', { body: { body } })).body.item.id)
  const article = await story.drafted()
  await setItem(opened.app, article, { kind: 'article' })
  const connected = await connect()
  expect(connected.body.unfit_drafts).toEqual([
    { item_id: article, message: expect.stringContaining('takes no articles') },
    { item_id: ids[2], message: 'names @levelsio, which is no handle there' },
    { item_id: ids[1], message: expect.stringContaining('is 301 characters long') },
  ])
  expect(connected.body.connection.limits).toMatchObject({ max_article_length: null })
  const asked = await story.send('POST', 'articles', { body: { topic: 'Docks' } })
  expect(asked.body.warnings).toEqual([
    { code: 'no_articles', message: expect.stringContaining('takes no articles') },
  ])
  const given = { body: { body: 'Docks\n\nEvery delay starts there.', kind: 'article' } }
  const { preview } = (await story.send('POST', 'items/preview', given)).body
  expect(preview.faults).toEqual([expect.stringContaining('takes no articles')])
  const refused = await story.send('POST', `items/${article}/approve`)
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('no articles')])
})
