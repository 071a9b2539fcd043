/** What is looked up for a text, and the record that is written with it without asking anybody. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { createEgress } from '#port/egress/egress'
import { type Bluesky, createBluesky } from '#port/network/bluesky/bluesky'
import { stringifyBlueskyCredentials } from '#port/network/bluesky/credentials'
import { postRecord } from '#port/network/bluesky/record'
import { openReceiver, type Receiver, type ReceiverAnswer } from '#test/support/http/receiver'
import { loopbackClient } from '#test/support/network/loopback-client'
import { use, useEach } from '#test/support/use'
import { AT, documentOf, error, json, never, OTHER, openScripted } from './scripted.ts'

const it = useEach(openScripted)
const pages: Receiver = use(openReceiver)

const HANDLE = 'bob.example.com'
const html = (head: string, status = 200): ReceiverAnswer => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: `<!doctype html><html><head>${head}</head><body><p>Words</p></body></html>`,
})

/** Hosts under `pages.example.com` are the pages' server; no other name leads anywhere. */
let network: Bluesky
let link: string
beforeEach(() => {
  const host = `pages.example.com:${pages.port}`
  link = `http://${host}/a?b=1`
  network = createBluesky({
    egress: createEgress({
      rules: { allow: new Set([new URL(it.at).host, host]), own: new Set() },
      resolve: async (name) =>
        name === 'pages.example.com' ? [{ address: '127.0.0.1', family: 4 }] : [],
    }),
    open: ({ credentials }) => credentials ?? '',
    client: loopbackClient,
    service: it.at,
    plcUrl: `${it.at}/plc`,
    appUrl: 'https://bsky.app',
    log: createLog('silent'),
  })
  pages.answer = html('<title>A page</title>')
  knows({ [HANDLE]: OTHER })
})
afterEach(() => pages.requests.splice(0))

const RESOLVE = 'com.atproto.identity.resolveHandle'
const knows = (people: Record<string, string>) => {
  it.script[RESOLVE] = (_, query) => {
    const did = people[query.get('handle')!]
    return did ? json({ did }) : error(400, 'InvalidRequest', 'Unable to resolve handle')
  }
  for (const [handle, did] of Object.entries(people))
    it.script[`/plc/${did}`] = json(documentOf(did, { handle }))
}

const make = (text: string, mayAsk: (url: string) => boolean = () => true) =>
  network.marks.make({ account: it.account, text, mayAsk }, never())
const cardOf = async (answer: ReceiverAnswer) => {
  pages.answer = answer
  const { marks, isWhole } = await make(`Read ${link}`)
  return isWhole ? marks.card : 'later'
}

describe('who a text mentions', () => {
  test('is looked up by the server, and counts only if the DID names the handle too', async () => {
    knows({ [HANDLE]: OTHER, 'eve.example.com': 'did:plc:cccccccccccccccccccccccc' })
    it.script['/plc/did:plc:cccccccccccccccccccccccc'] = json(
      documentOf('did:plc:cccccccccccccccccccccccc', { handle: 'other.example.com' }),
    )
    const text = `@${HANDLE}, (@Bob.example.com) @eve.example.com @nobody.example.com x@${HANDLE}`
    expect(await make(text)).toEqual({
      marks: { mentions: [{ handle: HANDLE, id: OTHER }], card: null },
      isWhole: true,
    })
  })

  test('is looked up for ten people at most', async () => {
    await make(Array.from({ length: 12 }, (_, n) => `@p${n}.example.com`).join(' '))
    expect(it.asked().filter((name) => name === RESOLVE)).toHaveLength(10)
  })

  test('is asked again later if the server or the directory does not answer', async () => {
    it.script[`/plc/${OTHER}`] = { status: 503 }
    expect(await make(`@${HANDLE}`)).toEqual({
      marks: { mentions: [], card: null },
      isWhole: false,
    })
  })
})

describe('the card of the first link', () => {
  test('is what its page says of itself, in plain words', async () => {
    pages.answer = html(`<meta property="og:title" content="Late &amp; sorry">
      <title>No</title><meta name=description content="One\u202e two
      three">`)
    expect(await make(`One ${link}, two http://other.example.com/b`)).toEqual({
      marks: {
        mentions: [],
        card: { url: link, title: 'Late & sorry', description: 'One two three' },
      },
      isWhole: true,
    })
    expect(pages.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /a?b=1'])
    expect(Object.keys(pages.requests[0]!.headers)).not.toContain('authorization')
  })

  test('is cut, however long the page', async () => {
    const long = 'x'.repeat(100_000)
    expect(await cardOf(html(`<title>${long}</title>`))).toEqual({
      url: link,
      title: 'x'.repeat(200),
      description: '',
    })
  })

  const none: [string, ReceiverAnswer][] = [
    ['has no title', html('<meta name="description" content="Words">')],
    ['is not there', html('<title>Sorry</title>', 404)],
    ['is no page', { status: 200, headers: { 'content-type': 'image/png' }, body: 'PNG' }],
    ['leads to what may not be called', { status: 302, headers: { location: 'http://10.0.0.1/' } }],
    ['leads to itself', { status: 302, headers: { location: '/a' } }],
  ]
  test.each(none)('is left out if the page %s', async (_, answer) => {
    expect(await cardOf(answer)).toBeNull()
  })

  test.each<[string, ReceiverAnswer]>([
    ['is busy', { status: 429 }],
    ['fails', html('<title>Sorry</title>', 502)],
    ['breaks off before it answers', { raw: '' }],
  ])('is asked for later if the page %s', async (_, answer) => {
    expect(await cardOf(answer)).toBe('later')
  })
})

test('a host that may not be asked is not, unless the service itself gives the handle', async () => {
  const account = {
    id: newId(),
    externalId: it.account.externalId,
    handle: 'alice.example.com',
    credentials: stringifyBlueskyCredentials({
      ...it.credentials,
      service: 'https://example.com',
    }),
  }
  const text = `@${HANDLE} and @bob.example.org read ${link}`
  const made = await network.marks.make({ account, text, mayAsk: () => false }, never())
  expect(made.marks).toEqual({ mentions: [{ handle: HANDLE, id: OTHER }], card: null })
  expect(pages.requests).toEqual([])
  expect(it.requests(RESOLVE).map(({ url }) => url)).toEqual([`/xrpc/${RESOLVE}?handle=${HANDLE}`])
})

test('the record has what was found, by bytes, and the same bytes at every try', () => {
  const marks = {
    mentions: [{ handle: HANDLE, id: OTHER }],
    card: { url: 'https://example.com/a', title: 'A page', description: '' },
    language: 'de',
  }
  const text = `déjà vu @${HANDLE}! @nobody.example.com https://example.com/@${HANDLE} #tag`
  const record = postRecord(text, AT, { marks }) as Record<string, unknown> & {
    facets: {
      index: { byteStart: number; byteEnd: number }
      features: [Record<string, string>]
    }[]
  }
  expect(record).toMatchObject({
    langs: ['de'],
    embed: {
      $type: 'app.bsky.embed.external',
      external: { uri: 'https://example.com/a', title: 'A page', description: '' },
    },
  })
  const bytes = Buffer.from(text)
  expect(
    record.facets.map(({ index, features: [{ did, uri, tag }] }) => [
      bytes.subarray(index.byteStart, index.byteEnd).toString(),
      did ?? uri ?? tag,
    ]),
  ).toEqual([
    [`@${HANDLE}`, OTHER],
    [`https://example.com/@${HANDLE}`, `https://example.com/@${HANDLE}`],
    ['#tag', 'tag'],
  ])
  expect(JSON.stringify(postRecord(text, AT, { marks }))).toBe(JSON.stringify(record))
  expect(Object.keys(postRecord('Hello', AT, { marks: null }))).toEqual([
    '$type',
    'text',
    'createdAt',
  ])
})
