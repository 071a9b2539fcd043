/** What a look at the key of a post proves. */
import { expect, test } from 'bun:test'
import { nthKey } from '#port/network/bluesky/keys'
import { type KeyedPost, NetworkError } from '#port/network/network'
import { useEach } from '#test/support/use'
import {
  APP,
  CID,
  DID,
  documentOf,
  error,
  json,
  keyFor,
  never,
  OTHER,
  openScripted,
  page,
} from './scripted.ts'

const it = useEach(openScripted)

const GET = 'com.atproto.repo.getRecord'
const POST = 'app.bsky.feed.post'
const postId = `at://${OTHER}/${POST}/3kkkkkkkkkk22`

const wanted = (more: Partial<KeyedPost> = {}): KeyedPost => ({
  account: it.account,
  key: keyFor(it, 'a post'),
  action: 'post',
  text: 'Here I am.',
  postId: null,
  ...more,
})
const find = (more: Partial<KeyedPost> = {}) => it.network.keys.find(wanted(more), never())
const failureOf = async (more: Partial<KeyedPost> = {}): Promise<string> => {
  const failure = await find(more).catch((cause: unknown) => cause)
  return failure instanceof NetworkError ? failure.reason : `none: ${JSON.stringify(failure)}`
}
const standing = (records: Record<string, object>) => {
  it.script[GET] = (_, query) => {
    const value = records[query.get('rkey')!]
    return value ? json({ uri: 'at://x/y/z', cid: CID, value }) : error(400, 'RecordNotFound')
  }
}
const livingAt = (pds: string) => {
  it.script[`/plc/${DID}`] = json(documentOf(DID, { pds }))
}

test('a post that stands there is found without asking where the repository is', async () => {
  const { key } = wanted()
  standing({ [key]: { text: 'Here I am.' } })
  expect(await find()).toEqual({
    externalId: `at://${DID}/${POST}/${key}`,
    url: `${APP}/profile/alice.example.com/post/${key}`,
  })
  expect(it.asked()).toEqual([GET])
})

test('a post under a further key is found, if others stand before it', async () => {
  const { key } = wanted()
  const [second, third] = [nthKey(key, 1), nthKey(key, 2)]
  const other = { text: 'Another.' }
  standing({ [key]: other, [second]: other, [third]: { text: 'Here I am.' } })
  expect(await find()).toMatchObject({ externalId: `at://${DID}/${POST}/${third}` })
  livingAt(it.at)
  standing({ [key]: other, [second]: other, [third]: other })
  expect(await find()).toBeUndefined()
  standing({ [key]: other, [third]: { text: 'Here I am.' } })
  expect(await find()).toBeUndefined()
})

test.each<[KeyedPost['action'], object, other: object]>([
  ['like', { subject: { uri: postId } }, { subject: { uri: 'at://x' } }],
  ['repost', { subject: { uri: postId } }, {}],
])('a %s is known by the post it is of', async (action, record, other) => {
  const about = { action, text: null, postId }
  standing({ [wanted().key]: record })
  expect(await find(about)).toEqual({ externalId: postId, url: null })
  livingAt(it.at)
  standing({ [wanted().key]: other })
  expect(await find(about)).toBeUndefined()
})

test.each<[KeyedPost['action'], object]>([
  ['reply', { reply: { parent: { uri: postId } } }],
  ['quote', { embed: { record: { uri: postId } } }],
  ['quote', { embed: { record: { record: { uri: postId } } } }],
])('a %s is known by its text and the post it names', async (action, named) => {
  const about = { action, text: 'So it is.', postId }
  livingAt(it.at)
  standing({ [wanted().key]: { text: 'So it is.', ...named } })
  expect(await find(about)).toMatchObject({ externalId: `at://${DID}/${POST}/${wanted().key}` })
  standing({ [wanted().key]: { text: 'So it was.', ...named } })
  expect(await find(about)).toBeUndefined()
  standing({ [wanted().key]: { text: 'So it is.' } })
  expect(await find(about)).toBeUndefined()
})

test('an absence counts where the document says that the repository is', async () => {
  standing({})
  livingAt(it.at)
  expect(await find()).toBeUndefined()
  expect(it.asked()).toEqual([GET, `/plc/${DID}`])
})

test('an absence counts for nothing if the document cannot be had, is another, or names no server', async () => {
  standing({})
  expect(await failureOf()).toBe('unreachable')
  for (const [answer, reason] of [
    [page(500), 'unreachable'],
    [page(404), 'unreachable'],
    [page(200), 'bad_answer'],
    [json(documentOf(OTHER, { pds: it.at })), 'bad_answer'],
    [json(documentOf(DID)), 'unreachable'],
    [json(documentOf(DID, { pds: 'ftp://example.com' })), 'bad_answer'],
    [json(documentOf(DID, { pds: 'https://example.com/path' })), 'bad_answer'],
    [json(documentOf(DID, { pds: 7 })), 'bad_answer'],
    [json(documentOf(DID, { pds: 'https://10.0.0.1' })), 'unreachable'],
  ] as const) {
    it.script[`/plc/${DID}`] = answer
    expect([answer.body, await failureOf()]).toEqual([answer.body, reason])
  }
})

test.each([
  ['says that there is nothing', error(400, 'RecordNotFound')],
  ['fails', page(500)],
  ['has become something else', page(404)],
])('a server that %s is not believed if the repository has moved to another', async (_, answer) => {
  it.elsewhere.answer = answer
  const account = it.accountWith({ pds: new URL(it.elsewhere.url).origin })
  standing({ [wanted().key]: { text: 'Here I am.' } })
  livingAt(it.at)
  expect(await find({ account })).toMatchObject({
    externalId: `at://${DID}/${POST}/${wanted().key}`,
  })
  standing({})
  expect(await find({ account })).toBeUndefined()
  expect(it.elsewhere.requests).toHaveLength(2)
})

test.each([
  ['a page', page(200), 'bad_answer'],
  ['an answer without a record', json({ uri: 7 }), 'bad_answer'],
  ['an error', error(500, 'InternalServerError'), 'unreachable'],
  ['an unknown error', error(400, 'InvalidRequest'), 'bad_answer'],
  ['a closed repository', error(400, 'RepoTakendown'), 'unreachable'],
  ['a pause', { status: 429 }, 'rate_limited'],
  [
    'half of the answer',
    { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"uri"' },
    'unreachable',
  ],
])('%s proves nothing', async (_, answer, reason) => {
  it.script[GET] = answer
  livingAt(it.at)
  expect(await failureOf()).toBe(reason)
})

test('no session is needed for it', async () => {
  standing({ [wanted().key]: { text: 'Here I am.' } })
  livingAt(it.at)
  expect(await find({ account: { ...it.account, credentials: null } })).toMatchObject({
    externalId: `at://${DID}/${POST}/${wanted().key}`,
  })
  expect(it.requests(GET)[0]!.headers.authorization).toBeUndefined()
})
