/** Replies, quotes, reposts and likes as they are sent. */
import { describe, expect, test } from 'bun:test'
import { useEach } from '#test/support/use'
import {
  APP,
  AT,
  CID,
  DID,
  documentOf,
  engaging,
  error,
  json,
  never,
  OTHER,
  openScripted,
  page,
} from './scripted.ts'

const it = useEach(openScripted)

const PUT = 'com.atproto.repo.putRecord'
const GET = 'com.atproto.repo.getRecord'
const POST = 'app.bsky.feed.post'
const AUTHOR = `/plc/${OTHER}`

interface Put {
  repo: string
  collection: string
  rkey: string
  swapRecord: null
  record: Record<string, unknown>
}

const puts = (): Put[] => it.requests(PUT).map(({ body }) => JSON.parse(body) as Put)
const written = (body: string) => {
  const { repo, collection, rkey } = JSON.parse(body) as Put
  return json({ uri: `at://${repo}/${collection}/${rkey}`, cid: CID })
}
const taking = () => {
  it.script[PUT] = ({ body }) => written(body)
}

describe('an engagement', () => {
  const postId = `at://${OTHER}/${POST}/3kkkkkkkkkk22`
  const root = { uri: `at://${DID}/${POST}/3kkkkkkkkkk33`, cid: CID }
  const subject = { uri: postId, cid: CID }
  const theirs = (value: object) => {
    it.script[`/plc/${OTHER}`] = json(documentOf(OTHER, { pds: it.at }))
    it.script[GET] = json({ uri: postId, cid: CID, value })
    taking()
  }
  const engage = (action: 'reply' | 'quote' | 'like' | 'repost', more = {}) =>
    it.network.engage(engaging(it, action, { postId, ...more }), never())
  const record = () => puts().at(-1)!.record

  test('that answers names the post, and the root that the post names', async () => {
    theirs({ text: 'Say something.' })
    expect(await engage('reply', { text: 'So it is.' })).toMatchObject({ kind: 'posted' })
    expect(record()).toMatchObject({ text: 'So it is.', reply: { root: subject, parent: subject } })
    theirs({ text: 'An answer.', reply: { root, parent: { uri: 'nonsense' } } })
    await engage('reply', { text: 'So it is.' })
    expect(record()).toMatchObject({ reply: { root, parent: subject } })
    theirs({ text: 'A lie.', reply: { root: { uri: 'https://example.com', cid: 7 } } })
    await engage('reply', { text: 'So it is.' })
    expect(record()).toMatchObject({ reply: { root: subject, parent: subject } })
    expect(it.asked().slice(0, 3)).toEqual([`/plc/${OTHER}`, GET, PUT])
  })

  test('that quotes embeds the post', async () => {
    theirs({ text: 'Say something.' })
    expect(await engage('quote', { text: 'Look.' })).toMatchObject({
      kind: 'posted',
      url: expect.stringContaining(`${APP}/profile/alice.example.com/post/`),
    })
    expect(record()).toMatchObject({ embed: { $type: 'app.bsky.embed.record', record: subject } })
  })

  test.each(['like', 'repost'] as const)(
    'that is a %s is posted with the id of the post',
    async (action) => {
      theirs({ text: 'Say something.' })
      const posted = { kind: 'posted', externalId: postId, url: null } as const
      expect(await engage(action)).toEqual(posted)
      expect(puts().at(-1)).toMatchObject({
        collection: `app.bsky.feed.${action}`,
        swapRecord: null,
        record: { $type: `app.bsky.feed.${action}`, subject, createdAt: AT.toISOString() },
      })
      it.script[PUT] = error(400, 'InvalidSwap')
      it.script[GET] = (_, query) =>
        query.get('repo') === OTHER
          ? json({ uri: postId, cid: CID, value: {} })
          : json({ uri: 'x', cid: CID, value: { subject } })
      expect(await engage(action)).toEqual(posted)
    },
  )

  test('with a post that is gone, or no post, is refused', async () => {
    theirs({})
    it.script[GET] = error(400, 'RecordNotFound')
    expect(await engage('like')).toMatchObject({ kind: 'refused' })
    it.script[`/plc/${OTHER}`] = { status: 404, body: '{"message":"DID not registered"}' }
    expect(await engage('like')).toMatchObject({ kind: 'refused' })
    it.asked()
    for (const wrong of [
      '17',
      'no post',
      `at://alice.example.com/${POST}/3kkkkkkkkkk22`,
      `at://${OTHER}/app.bsky.feed.like/3kkkkkkkkkk22`,
    ])
      expect(await engage('like', { postId: wrong })).toMatchObject({ kind: 'refused' })
    expect(await engage('reply', { text: 'x'.repeat(301) })).toMatchObject({ kind: 'refused' })
    expect(it.asked()).toEqual([])
  })

  test.each([
    ['the directory is silent', { [AUTHOR]: page(503) }, 'unreachable'],
    ["the author's server is silent", { [GET]: page(500) }, 'unreachable'],
    ["the author's server asks for a pause", { [GET]: { status: 429 } }, 'rate_limited'],
    ["the author's account is closed", { [GET]: error(401, 'AccountTakedown') }, 'unreachable'],
    ["the author's server wants a session", { [GET]: error(401, 'ExpiredToken') }, 'unreachable'],
    [
      "the author's server may not be called",
      { [AUTHOR]: json(documentOf(OTHER, { pds: 'https://10.0.0.1' })) },
      'unreachable',
    ],
  ])('is not sent while %s', async (_, answers, reason) => {
    theirs({})
    Object.assign(it.script, answers)
    const result = await engage('like')
    expect(result).toMatchObject({ kind: 'not_applied', reason })
    expect(result).not.toHaveProperty('isSessionOver')
    expect(it.requests(PUT)).toEqual([])
  })
})
