/** Posts to Bluesky: each stands there once, whatever the server answers or fails to. */
import { describe, expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { makeDue } from '#test/support/database/writes'
import { eventually } from '#test/support/eventually'
import { wake } from '#test/support/growth/returned'
import { textOf } from '#test/support/growth/story'
import {
  type BlueskyStory,
  connectedPerson,
  newStranger,
  openBlueskyApp,
} from '#test/support/network/bluesky-app'
import type { PdsFault } from '#test/support/network/pds-faults'
import { use } from '#test/support/use'

const times: SendTimes = {
  ...sendTimes,
  deadlineMs: 1_500,
  leaseMs: 3_000,
  marginMs: 200,
  settleMs: 20,
  windowMs: 200,
  backoffMs: [20, 20, 20, 20],
}

const opened = use(() => openBlueskyApp({ times, replyWithinMs: 20_000 }))

test('an approved post stands in the repository, with its links, and the item says where', async () => {
  const { story, person, posts } = await connectedPerson(opened)
  const text = 'Read https://example.com/a — déjà vu 👩‍👩‍👧 #tendril'
  const id = await story.approved(text)
  const { status, body } = await story.postNow(id)
  expect([status, body.item.status]).toEqual([200, 'posted'])
  const [record] = opened.pds.records(person.did, 'app.bsky.feed.post')
  expect(body.item).toMatchObject({
    external_id: record!.uri,
    url: `https://bsky.app/profile/${person.handle}/post/${record!.uri.split('/').at(-1)}`,
    account: person.did,
  })
  const facets = record!.value.facets as { index: { byteStart: number; byteEnd: number } }[]
  const bytes = Buffer.from(text)
  expect(
    facets.map(({ index }) => bytes.subarray(index.byteStart, index.byteEnd).toString()),
  ).toEqual(['https://example.com/a', '#tendril'])
  expect(posts()).toEqual({ [text]: 1 })
})

describe('an answer that proves nothing', () => {
  const PUT = 'com.atproto.repo.putRecord'

  test.each<[string, PdsFault, number]>([
    ['is lost after the post was made', 'lost', 1],
    ['never comes, and nothing was made', 'hang', 1],
    ['never comes, although the post was made', 'silent', 1],
    ['is a 502 although the post was made', { status: 502, isApplied: true }, 1],
    ['is a 503 three times, and nothing was made', { status: 503 }, 3],
    ['is a page', 'html', 1],
  ])('%s: the post stands there once', async (_, fault, times) => {
    const { story, posts } = await connectedPerson(opened)
    opened.pds.fail(PUT, fault, { times })
    const now = await story.approved()
    const { status, body } = await story.postNow(now)
    expect([status, body.item?.status]).toEqual([200, 'posted'])
    opened.pds.fail(PUT, fault, { times })
    const due = await story.scheduled(0)
    await story.settled(due, 'posted')
    expect(posts()).toEqual({ [textOf(now)]: 1, [textOf(due)]: 1 })
    expect(await story.events()).toEqual(['growth.item.posted', 'growth.item.posted'])
  })

  test('a server that is away while the doubt is open decides nothing', async () => {
    const { story, posts } = await connectedPerson(opened)
    opened.pds.fail(PUT, 'lost')
    opened.pds.fail('com.atproto.repo.getRecord', { status: 502 }, { times: 3 })
    const id = await story.scheduled(0)
    await story.settled(id, 'posted')
    expect(posts()).toEqual({ [textOf(id)]: 1 })
    expect(await story.attempts(id)).toEqual(['posted'])
  })

  test('a second send under the same key is not taken for a second post', async () => {
    const { story, posts } = await connectedPerson(opened)
    opened.pds.fail(PUT, { status: 503 }, { times: 1 })
    const id = await story.approved()
    const { status } = await story.postNow(id)
    expect(status).toBe(200)
    expect(posts()).toEqual({ [textOf(id)]: 1 })
    expect(await story.attempts(id)).toEqual(['returned', 'posted'])
    // The watch over the first try finds the post of the second one, which is its own.
    await makeDue(opened.app, id, { kind: 'reconcile' })
    await wake(story)
    const failures = async () =>
      (await opened.app.owner`select failures from work where ref_id = ${id}`)[0]?.failures
    expect(await eventually(failures, (failed) => failed !== 0)).toBeUndefined()
    expect(await story.item(id)).toMatchObject({ status: 'posted', last_error: null })
    expect(await story.events()).toEqual(['growth.item.posted'])
  })
})

test('a limit of the network is waited for, and a refusal is told with the reason', async () => {
  const { story, posts } = await connectedPerson(opened)
  opened.pds.fail('com.atproto.repo.putRecord', { limitedSeconds: 1 })
  const id = await story.scheduled(0)
  await story.settled(id, 'posted')
  expect(posts()).toEqual({ [textOf(id)]: 1 })
  opened.pds.fail('com.atproto.repo.putRecord', {
    status: 400,
    error: 'InvalidRequest',
    message: 'no such word is allowed',
  })
  const refused = await story.postNow(await story.approved())
  expect([refused.status, refused.body.error?.message]).toEqual([
    502,
    expect.stringContaining('no such word is allowed'),
  ])
})

test('a text that is too long for Bluesky is refused before it is approved', async () => {
  const { story } = await connectedPerson(opened)
  const id = await story.drafted()
  const { status, body } = await story.send('POST', `items/${id}/approve`, {
    body: { edited_body: '🧵'.repeat(301) },
  })
  expect(status).toBe(400)
  expect(body.error?.message).toContain('300')
})

describe('what others say to the account', () => {
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
})
