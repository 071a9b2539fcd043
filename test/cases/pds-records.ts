/** Which records a PDS takes, and how it gives them back. */
import { describe, expect, test } from 'bun:test'
import {
  callPds,
  newPdsHandle,
  newPdsUser,
  type PdsCase,
  refusedBy,
} from '#test/support/network/pds-client'
import { pdsRecords } from '#test/support/network/pds-records'

const { POST, KEY, CREATED_AT, recordOf, put, get, list, keysOf, invalid } = pdsRecords

const checking = (it: PdsCase): void => {
  test('only TIDs are keys of posts and likes', async () => {
    const user = await newPdsUser(it)
    for (const rkey of ['2222222222222', 'jkabcdefghijk', 'azzzzzzzzzzzz'])
      expect((await put(it, user, recordOf('Hello'), { rkey })).status).toBe(200)
    const wrong = [
      'abc',
      'self',
      '2222222222221',
      'kkabcdefghijk',
      '3kabcdefghijkl',
      '3kabcdefghiJk',
      '01890a5d-ac96-774b-bcce-b302099a8057',
    ]
    for (const rkey of wrong)
      expect(await put(it, user, recordOf('Hello'), { rkey })).toEqual(
        invalid(
          `Invalid record key for ${POST}: Invalid TID string (got ${JSON.stringify(rkey)}) at $`,
        ),
      )
    for (const rkey of ['a/b', '.', ''])
      expect(await put(it, user, recordOf('Hello'), { rkey })).toEqual(
        invalid(`Invalid record key (got ${JSON.stringify(rkey)}) at $.rkey`),
      )
    expect((await list(it, user)).body.records).toHaveLength(3)
  })

  test.each([
    ['301 graphemes', recordOf('x'.repeat(301)), 'grapheme too big (maximum 300, got 301)'],
    ['3,025 bytes', recordOf('👩‍👩‍👧‍👦'.repeat(121)), 'string too big (maximum 3000, got 3025)'],
    ['a number', recordOf(5), 'Expected string value type (got 5)'],
  ])('a text of %s is refused', async (_name, record, words) => {
    const user = await newPdsUser(it)
    expect(await put(it, user, record)).toEqual(
      invalid(`Invalid ${POST} record: ${words} at $.record.text`),
    )
    expect<unknown>((await list(it, user)).body).toEqual({ records: [] })
  })

  test('300 graphemes in 3,000 bytes are taken, and so is a text of nothing', async () => {
    const user = await newPdsUser(it)
    const texts = [
      '',
      'x'.repeat(300),
      `${'👩‍👩‍👧‍👦'.repeat(120)}`,
      '한'.repeat(300),
      'é'.repeat(300),
    ]
    for (const [nth, text] of texts.entries())
      expect([
        text,
        (await put(it, user, recordOf(text), { rkey: `3kabcdefghij${nth + 2}` })).status,
      ]).toEqual([text, 200])
  })

  const strongRef = { uri: `at://did:plc:${'a'.repeat(24)}/${POST}/${KEY}`, cid: 'x' }
  test.each([
    ['no text', { $type: POST, createdAt: CREATED_AT }, 'Missing required key "text" at $.record'],
    ['no time', { $type: POST, text: 'x' }, 'Missing required key "createdAt" at $.record'],
    [
      'another time',
      recordOf('x', { createdAt: '2026-11-29' }),
      'Invalid datetime (got "2026-11-29") at $.record.createdAt',
    ],
    [
      'four languages',
      recordOf('x', { langs: ['en', 'de', 'fr', 'es'] }),
      'array too big (maximum 3, got 4) at $.record.langs',
    ],
    [
      'no language',
      recordOf('x', { langs: ['e!!'] }),
      'Invalid language (got "e!!") at $.record.langs[0]',
    ],
    [
      'a reply to nothing',
      recordOf('x', { reply: { root: 1 } }),
      'Expected object value type (got 1) at $.record.reply.root',
    ],
    [
      'a reply without a cid',
      recordOf('x', { reply: { root: strongRef, parent: strongRef } }),
      'Invalid CID string (got "x") at $.record.reply.root.cid',
    ],
    [
      'a link to nothing',
      recordOf('x', {
        facets: [
          {
            index: { byteStart: 0, byteEnd: 1 },
            features: [{ $type: 'app.bsky.richtext.facet#link', uri: 'no' }],
          },
        ],
      }),
      'Invalid uri (got "no") at $.record.facets[0].features[0].uri',
    ],
  ])('a record with %s is refused', async (_name, record, words) => {
    const user = await newPdsUser(it)
    expect(await put(it, user, record)).toEqual(invalid(`Invalid ${POST} record: ${words}`))
  })

  test('records of replies, quotes, cards, links, languages and unknown fields are taken', async () => {
    const user = await newPdsUser(it)
    const { body } = await put(it, user, recordOf('Hello'))
    const ref = { uri: body.uri, cid: body.cid }
    const linked = {
      index: { byteStart: 0, byteEnd: 1 },
      features: [
        { $type: 'app.bsky.richtext.facet#link', uri: 'https://example.com' },
        { $type: 'app.bsky.richtext.facet#mention', did: user.did },
        { $type: 'app.bsky.richtext.facet#tag', tag: 'hello' },
      ],
    }
    const external = { uri: 'https://example.com', title: 'Example', description: '' }
    const records = [
      recordOf('x', { reply: { root: ref, parent: ref }, langs: ['en', 'pt-BR'] }),
      recordOf('x', { embed: { $type: 'app.bsky.embed.record', record: ref } }),
      recordOf('x', { embed: { $type: 'app.bsky.embed.external', external } }),
      recordOf('x', { facets: [linked], tags: ['one'], unknown: [1, -2, null, true, { a: {} }] }),
    ]
    for (const [nth, record] of records.entries()) {
      const rkey = `3kabcdefghij${nth + 2}`
      expect((await put(it, user, record, { rkey })).body.validationStatus).toBe('valid')
      expect((await get(it, user, { rkey })).body.value).toEqual(record)
    }
  })
}

const reading = (it: PdsCase): void => {
  test('getRecord finds by DID and handle; another cid, and no record, is RecordNotFound', async () => {
    const user = await newPdsUser(it)
    const { body } = await put(it, user, recordOf('Hello'))
    expect((await get(it, user, { repo: user.handle })).body).toEqual((await get(it, user)).body)
    const other = 'bafyreiem3iy5dzfv5qi3hg33cosict5lherefagob4uijme4faqlcfyuj4'
    const missing = refusedBy(400, 'RecordNotFound', `Could not locate record: ${body.uri}`)
    expect(await get(it, user, { cid: other })).toEqual(missing)
    expect(await get(it, user, { rkey: '3kabcdefghij2' })).toEqual(refusedBy(400, 'RecordNotFound'))
    expect(await get(it, user, { rkey: 'a/b' })).toEqual(
      invalid('Invalid com.atproto.repo.getRecord params: Invalid record key (got "a/b")'),
    )
    expect(await get(it, user, { repo: newPdsHandle() })).toEqual(refusedBy(502, 'UpstreamFailure'))
  })

  test('listRecords is sorted by key, the greatest first, page by page', async () => {
    const user = await newPdsUser(it)
    const keys = ['2222222222222', '3kabcdefghij2', '3kabcdefghijk', 'jkabcdefghijk']
    for (const rkey of ['3kabcdefghijk', '2222222222222', 'jkabcdefghijk', '3kabcdefghij2'])
      await put(it, user, recordOf(rkey), { rkey })
    expect(keysOf((await list(it, user)).body)).toEqual(keys.toReversed())
    expect(keysOf((await list(it, user, { reverse: 'true', limit: '3' })).body)).toEqual(
      keys.slice(0, 3),
    )
    const first = await list(it, user, { limit: '2' })
    expect(keysOf(first.body)).toEqual(['jkabcdefghijk', '3kabcdefghijk'])
    expect(first.body.cursor).toBe('3kabcdefghijk')
    const second = await list(it, user, { limit: '2', cursor: first.body.cursor! })
    expect(keysOf(second.body)).toEqual(['3kabcdefghij2', '2222222222222'])
    // Whether more comes, only the next page tells.
    expect(second.body.cursor).toBe('2222222222222')
    expect<unknown>((await list(it, user, { cursor: second.body.cursor! })).body).toEqual({
      records: [],
    })
  })

  test('listRecords of nobody, and with a wrong limit, is refused', async () => {
    const user = await newPdsUser(it)
    const nobody = newPdsHandle()
    expect(await list(it, user, { repo: nobody })).toEqual(
      invalid(`Could not find repo: ${nobody}`),
    )
    const wrong = (words: string) =>
      invalid(`Invalid com.atproto.repo.listRecords params: ${words}`)
    expect(await list(it, user, { limit: '101' })).toEqual(
      wrong('integer too big (maximum 100, got 101)'),
    )
    expect(await list(it, user, { limit: '0' })).toEqual(
      wrong('integer too small (minimum 1, got 0)'),
    )
    expect(await list(it, user, { limit: 'x' })).toEqual(
      wrong('Expected integer value type (got "x")'),
    )
  })

  test('getLatestCommit moves with each commit, and only then', async () => {
    const user = await newPdsUser(it)
    const latest = async (): Promise<{ cid: string; rev: string }> =>
      (await callPds(it, 'com.atproto.sync.getLatestCommit', { query: { did: user.did } })).body
    const before = await latest()
    const { commit } = (await put(it, user, recordOf('Hello'))).body
    expect(await latest()).toEqual(commit!)
    expect(commit!.rev > before.rev).toBe(true)
    await put(it, user, recordOf('Hello'))
    await put(it, user, recordOf('Other'))
    expect(await latest()).toEqual(commit!)
  })
}

export const pdsRecordCases = (it: PdsCase): void => {
  describe('checking', () => checking(it))
  describe('reading', () => reading(it))
}
