/** Records as they are written: posts with the links and tags in their text, likes and reposts. */
import { findLinks } from '#domain/growth/drafting/links'
import { GRAPHEME_LIMIT, graphemeLength } from '#domain/growth/length/grapheme-length'
import { asObject, type JsonObject } from '#port/fields'
import type { KeyedPost } from '../network.ts'
import { POST } from './refs.ts'

export const COLLECTIONS: Record<KeyedPost['action'], string> = {
  post: POST,
  reply: POST,
  quote: POST,
  like: 'app.bsky.feed.like',
  repost: 'app.bsky.feed.repost',
}

/** A record at one version. */
export interface StrongRef {
  uri: string
  cid: string
}

/** Why no server would take this text, or null. */
export const refusalOfText = (text: string): string | null => {
  if (text.trim() === '') return 'the text is empty'
  if (text.includes('\0')) return 'the text contains a NUL character'
  const length = graphemeLength(text)
  return length > GRAPHEME_LIMIT
    ? `the text is ${length} characters long, more than ${GRAPHEME_LIMIT}; a post has at most ${GRAPHEME_LIMIT} characters and ${GRAPHEME_LIMIT * 10} bytes`
    : null
}

interface Facet {
  start: number
  end: number
  feature: object
}

const TAG = /(?<=^|\s)[#＃](\S{1,200})(?!\S)/gu
const PUNCTUATION_AT_END = /\p{P}+$/u
/** A keycap is no tag. */
const ANY_LETTER = /^(?!\ufe0f|\u20e3).*[\p{L}\p{Emoji_Presentation}]/su
const LONGEST_TAG = 64

const linksIn = (text: string): Facet[] =>
  findLinks(text).flatMap(({ start, end, certain }) => {
    const written = text.slice(start, end)
    const uri = /^https?:\/\//i.test(written) ? written : `https://${written}`
    return certain && URL.canParse(uri)
      ? [{ start, end, feature: { $type: 'app.bsky.richtext.facet#link', uri } }]
      : []
  })

const tagsIn = (text: string): Facet[] =>
  Array.from(text.matchAll(TAG), (match) => ({
    start: match.index,
    tag: match[1]!.replace(PUNCTUATION_AT_END, ''),
  }))
    .filter(({ tag }) => ANY_LETTER.test(tag) && graphemeLength(tag) <= LONGEST_TAG)
    .map(({ start, tag }) => ({
      start,
      end: start + 1 + tag.length,
      feature: { $type: 'app.bsky.richtext.facet#tag', tag },
    }))

/** The links and tags of a text, by offsets in its bytes. */
const facetsOf = (text: string): object[] => {
  const links = linksIn(text)
  const tags = tagsIn(text).filter((tag) =>
    links.every(({ start, end }) => tag.end <= start || tag.start >= end),
  )
  const bytes = (end: number) => Buffer.byteLength(text.slice(0, end))
  return [...links, ...tags]
    .toSorted((one, other) => one.start - other.start)
    .map(({ start, end, feature }) => ({
      index: { byteStart: bytes(start), byteEnd: bytes(end) },
      features: [feature],
    }))
}

/** Every try writes the same bytes. A half of a character would be changed by the server. */
export const postRecord = (text: string, madeAt: Date, more: object = {}): object => {
  const whole = text.toWellFormed()
  const facets = facetsOf(whole)
  return {
    $type: POST,
    text: whole,
    createdAt: madeAt.toISOString(),
    ...(facets.length > 0 ? { facets } : {}),
    ...more,
  }
}

export const reactionRecord = (
  action: 'like' | 'repost',
  subject: StrongRef,
  madeAt: Date,
): object => ({ $type: COLLECTIONS[action], subject, createdAt: madeAt.toISOString() })

/** The post that a post answers. */
export const parentIn = (record: JsonObject): unknown => asObject(asObject(record.reply).parent).uri

/** The post that a post quotes, alone or beside pictures. */
export const quotedIn = (record: JsonObject): unknown => {
  const { record: quoted } = asObject(record.embed)
  return asObject(quoted).uri ?? asObject(asObject(quoted).record).uri
}

/** Whether a record is what was sent. */
export const isSent = (
  { action, text, postId }: Pick<KeyedPost, 'action' | 'text' | 'postId'>,
  record: JsonObject,
): boolean => {
  if (action === 'like' || action === 'repost') return asObject(record.subject).uri === postId
  if (record.text !== text?.toWellFormed()) return false
  if (action === 'reply') return parentIn(record) === postId
  return action !== 'quote' || quotedIn(record) === postId
}
