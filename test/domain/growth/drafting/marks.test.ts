/** What an approval covers beside the text: marks that were seen, of this text for this account. */
import { describe, expect, test } from 'bun:test'
import type { KeptMarks } from '#contract/records/growth/marks'
import { contentMark, marksSeen } from '#domain/growth/drafting/content-mark'
import { contentHash } from '#domain/growth/drafting/item'
import { approve, reopen } from '#domain/growth/drafting/item-moves'
import { itemView } from '#domain/growth/drafting/item-view'
import { keptMarks, marksFor, marksIn, mayHaveMarks } from '#domain/growth/drafting/marks'
import { sentContent } from '#domain/growth/sending/keyed'
import { post } from '#domain/growth/sending/post'
import { claim } from '#domain/growth/sending/send'
import { ACCOUNT, approvedItem, at, draftedItem } from '../../records.ts'

const body = draftedItem.body
const account = 'connection-1'
const card = { url: 'https://a.example.com/', title: 'Late', description: 'Why' }
const found = { mentions: [{ handle: 'alice.example.com', id: 'did:plc:alice' }], card }
const kept = keptMarks(found, { body, account })
/** As Postgres gives it back: with its fields in another order. */
const stored: KeptMarks = {
  card: { description: 'Why', title: 'Late', url: card.url },
  language: null,
  mentions: [{ id: 'did:plc:alice', handle: 'alice.example.com' }],
  account,
  text: kept.text,
}

const approval = { accountExternalId: ACCOUNT, measure: () => 1, maxLength: 300, now: at() }
const approvedWith = (marks: KeptMarks | null, language: string | null = null) =>
  approve({ ...draftedItem, marks }, { ...approval, marking: { account, language, found: marks } })

describe('the hash of an approval', () => {
  test('is that of earlier versions if there is only a text', () => {
    expect(contentHash('Hello', 'did:plc:a')).toBe(
      '602de2e43ac10c3a0af25401204deb01a0f3073a961294745c8fde1bfaa02c29',
    )
    const plain = approvedWith(null)
    expect([plain.marks, plain.approved_hash]).toEqual([null, approvedItem().approved_hash])
    const nothing = approvedWith(keptMarks({ mentions: [], card: null }, { body, account }))
    expect([nothing.marks, nothing.approved_hash]).toEqual([null, approvedItem().approved_hash])
  })

  test('covers mentions, card and language, in whatever order they are stored', () => {
    const marked = approvedWith(kept)
    const hashes = [
      approvedItem(),
      marked,
      approvedWith(kept, 'en'),
      approvedWith({ ...kept, card: { ...card, title: 'Early' } }),
      approvedWith({ ...kept, mentions: [] }),
    ].map(({ approved_hash }) => approved_hash)
    expect(new Set(hashes).size).toBe(5)
    expect(approvedWith(stored).approved_hash).toBe(marked.approved_hash)
    expect(sentContent(approvedWith(stored)).digest).toEqual(sentContent(marked).digest)
  })

  test('refuses a send whose marks are not those approved', () => {
    const sending = { accountExternalId: ACCOUNT, origin: 'automatic', now: at() } as const
    const due = { ...approvedWith(kept, 'en'), post_at: at() }
    expect(claim(post, due, sending)).toMatchObject({ approved_hash: due.approved_hash })
    for (const marks of [null, kept, { ...due.marks!, language: 'de' }])
      expect(claim(post, { ...due, marks }, sending)).toBe('approval_stale')
  })
})

test('marks hold for their text and account alone', () => {
  expect(marksFor(kept, { body, account })).toBe(kept)
  expect(marksFor(kept, { body: `${body} `, account })).toBeNull()
  expect(marksFor(kept, { body, account: 'connection-2' })).toBeNull()
  expect(marksFor(kept, { body, account: undefined })).toBeNull()
  const shown = (id: string) =>
    itemView({
      ...draftedItem,
      marks: stored,
      posting_account: { id, handle: 'me', network: 'bluesky' },
    })
  expect(shown(account)).toMatchObject({
    marks: { ...found, language: null },
    content_hash: contentMark(body, kept),
  })
  expect(shown('connection-2')).toMatchObject({ marks: null, content_hash: contentMark(body) })
})

test('an edited text is approved without them, and a reopened one gets new ones', () => {
  const marking = { account, language: 'en', found: kept }
  const edited = approve(
    { ...draftedItem, marks: kept },
    { ...approval, editedBody: 'Another text.', marking },
  )
  expect(marksIn(edited.marks)).toEqual({ mentions: [], card: null, language: 'en' })
  expect(reopen(approvedWith(kept), at()).marks).toBeNull()
})

describe('what somebody has seen', () => {
  const seen = (hash: string | undefined, marks: KeptMarks | null = kept) =>
    marksSeen(draftedItem, marks, hash)

  test('is the text with its marks, or the text before it had any', () => {
    expect(seen(undefined)).toBe(kept)
    expect(seen(contentMark(body, kept))).toBe(kept)
    expect(seen(contentMark(body, kept).slice(0, 8))).toBe(kept)
    expect(seen(contentMark(body))).toBeNull()
    expect(seen(contentMark(body).slice(0, 8))).toBeNull()
    expect(seen(contentMark(body), null)).toBeNull()
  })

  test('is refused if it is another text, or other marks', () => {
    const others = { ...kept, card: { ...card, title: 'Early' } }
    for (const hash of [contentMark('Another text.'), contentMark(body, others)])
      expect(() => seen(hash)).toThrow(contentMark(body, kept))
    expect(() => seen(contentMark(body, kept), null)).toThrow(contentMark(body))
  })
})

test.each([
  ['Thanks @alice.example.com!', true],
  ['(@alice.example.com)', true],
  ['Read https://example.com/a', true],
  ['Read example.com', true],
  ['Thanks @alice', false],
  ['alice@localhost', false],
  ['A point. Another @ one', false],
])('a text that may need something beside it: %s', (text, may) => {
  expect(mayHaveMarks(text)).toBe(may)
})
