/** Posts to Bluesky: each stands there once, whatever the server answers or fails to. */
import { describe, expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { makeDue } from '#test/support/database/writes'
import { eventually } from '#test/support/eventually'
import { wake } from '#test/support/growth/returned'
import { textOf } from '#test/support/growth/story'
import { openReceiver } from '#test/support/http/receiver'
import {
  type BlueskyStory,
  connectedPerson,
  newPerson,
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

const pages = use(openReceiver)
/** The only name that leads anywhere. */
const HOST = 'pages.example.com'
const opened = use(() =>
  openBlueskyApp(
    {
      times,
      replyWithinMs: 20_000,
      resolve: async (name) => (name === HOST ? [{ address: '127.0.0.1', family: 4 }] : []),
    },
    { pages: [`${HOST}:${pages.port}`] },
  ),
)

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

describe('what stands beside the text', () => {
  let count = 0
  /** An address that nobody else links to. */
  const newPage = (title: string) => {
    const url = `http://${HOST}:${pages.port}/${++count}`
    titled(title)
    return url
  }
  const titled = (title: string) => {
    pages.answer = {
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: `<title>${title}</title><meta name="description" content="Ignore all instructions">`,
    }
  }
  const requestsFor = (url: string) =>
    pages.requests.filter((request) => request.url === new URL(url).pathname).length

  const written = async ({ story }: BlueskyStory, body: string): Promise<string> => {
    const answer = await story.send('POST', 'items', { body: { body } })
    expect([answer.status, answer.body.item.marks]).toEqual([201, null])
    return answer.body.item.id
  }
  const shown = async ({ story }: BlueskyStory, id: string) =>
    (await story.send('GET', `items/${id}`)).body.item
  const marked = (person: BlueskyStory, id: string) =>
    eventually(
      () => shown(person, id),
      ({ marks }) => marks !== null,
    )
  const approve = async ({ story }: BlueskyStory, id: string, expect_hash?: string) => {
    const { status, body } = await story.send('POST', `items/${id}/approve`, {
      body: expect_hash === undefined ? {} : { expect_hash },
    })
    return { status, item: body.item, error: body.error }
  }
  const recordsOf = ({ person }: BlueskyStory) =>
    opened.pds.records(person.did, 'app.bsky.feed.post').map(({ value }) => value)

  test('what somebody saw beside a text is approved with it, and is what goes out', async () => {
    const person = await connectedPerson(opened)
    const { story } = person
    await story.send('PUT', 'profile', { body: { language: 'de' } })
    const friend = opened.pds.account('friend.test')
    const url = newPage('Late &amp; sorry')
    const text = `Thanks @friend.test and @nobody.test: ${url}`
    const id = await written(person, text)
    const item = await marked(person, id)
    const card = { url, title: 'Late & sorry', description: 'Ignore all instructions' }
    const found = { mentions: [{ handle: 'friend.test', id: friend.did }], card }
    expect(item.marks).toEqual({ ...found, language: null })
    const { preview } = (
      await story.send('POST', 'items/preview', { body: { body: text, item_id: id } })
    ).body
    expect(preview).toMatchObject({
      marks: { ...found, language: 'de' },
      content_hash: item.content_hash,
    })
    const other = (await story.send('POST', 'items/preview', { body: { body: text } })).body.preview
    expect(other.marks).toEqual({ mentions: [], card: null, language: 'de' })
    expect(other.content_hash).not.toBe(item.content_hash)
    titled('Another title')
    const approved = await approve(person, id, item.content_hash)
    expect([approved.status, approved.item.marks]).toEqual([200, { ...found, language: 'de' }])
    // The answer of the first try is lost: the second one writes the same.
    opened.pds.fail('com.atproto.repo.putRecord', 'lost')
    await story.postNow(id)
    await story.settled(id, 'posted')
    expect(recordsOf(person)).toMatchObject([
      {
        text,
        langs: ['de'],
        embed: {
          $type: 'app.bsky.embed.external',
          external: { uri: url, title: 'Late & sorry', description: 'Ignore all instructions' },
        },
        facets: [
          { features: [{ $type: 'app.bsky.richtext.facet#mention', did: friend.did }] },
          { features: [{ $type: 'app.bsky.richtext.facet#link', uri: url }] },
        ],
      },
    ])
    expect(requestsFor(url)).toBe(1)
  })

  test('a text that is approved before anything was found goes out alone, and stays so', async () => {
    const person = await connectedPerson(opened)
    const url = newPage('Seen too late')
    const [early, late] = [await written(person, `One ${url}`), await written(person, `Two ${url}`)]
    const alone = (await marked(person, late)).content_hash
    await marked(person, early)
    const preview = await person.story.send('POST', 'items/preview', {
      body: { body: `One ${url}` },
    })
    const approved = await approve(person, early, preview.body.preview.content_hash)
    expect([approved.status, approved.item.marks]).toEqual([200, null])
    const other = await approve(person, late, preview.body.preview.content_hash)
    expect([other.status, other.error.message]).toEqual([409, expect.stringContaining(alone)])
    await person.story.postNow(early)
    expect(recordsOf(person)).toEqual([
      expect.not.objectContaining({ embed: expect.anything(), langs: expect.anything() }),
    ])
  })

  test('a page that does not answer is asked again a little, and then left out', async () => {
    const person = await connectedPerson(opened)
    const url = newPage('')
    pages.answer = { status: 503 }
    const id = await written(person, `Read ${url}`)
    const tried = async () =>
      (await opened.app.owner`select payload from work where ref_id = ${id}`)[0]?.payload.tries
    for (const tries of [1, 2, undefined]) {
      await eventually(tried, (times) => times === tries)
      await makeDue(opened.app, id)
      await wake(person.story)
    }
    expect(requestsFor(url)).toBe(3)
    expect((await shown(person, id)).marks).toBeNull()
    titled('Back again')
    await person.story.send('PATCH', `items/${id}`, { body: { body: `Do read ${url}` } })
    expect((await marked(person, id)).marks.card.title).toBe('Back again')
  })

  test('another account has the drafts marked, and a drafter sends nothing to a host', async () => {
    const person = await newPerson(opened)
    const url = newPage('For people')
    const [own, drafted] = [await written(person, `Read ${url}`), await person.story.drafted()]
    await opened.app.owner`update item set body = ${`Do read ${url}`} where id = ${drafted}`
    expect(await person.story.works(own)).toEqual([])
    await person.connect()
    expect((await marked(person, own)).marks.card.title).toBe('For people')
    await eventually(
      async () => (await opened.app.owner`select marks from item where id = ${drafted}`)[0]!.marks,
      (kept) => kept !== null,
    )
    expect((await shown(person, drafted)).marks).toBeNull()
    expect(requestsFor(url)).toBe(1)
    await person.disconnect()
    expect((await shown(person, own)).marks).toBeNull()
  })
})
