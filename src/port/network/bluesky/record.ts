/** Records as they are written: posts with what is marked in their text, likes and reposts. */
import type { Marks } from '#contract/records/growth/marks'
import { GRAPHEME_LIMIT, graphemeLength } from '#domain/growth/length/grapheme-length'
import { asObject, type JsonObject } from '#port/fields'
import type { KeyedPost } from '../network.ts'
import { POST } from './refs.ts'
import { facetsOf } from './rich-text.ts'

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

const embedOf = ({ card }: Marks): object =>
  card ? { embed: { $type: 'app.bsky.embed.external', external: externalOf(card) } } : {}

const externalOf = ({ url: uri, title, description }: NonNullable<Marks['card']>): object => ({
  uri,
  title,
  description,
})

interface Beside {
  marks?: Marks | null | undefined
  /** What else the record has: the post that it answers or quotes. */
  more?: object
}

/** Every try writes the same bytes. A half of a character would be changed by the server. */
export const postRecord = (
  text: string,
  madeAt: Date,
  { marks = null, more = {} }: Beside = {},
): object => {
  const whole = text.toWellFormed()
  const facets = facetsOf(whole, marks?.mentions ?? [])
  return {
    $type: POST,
    text: whole,
    createdAt: madeAt.toISOString(),
    ...(facets.length > 0 ? { facets } : {}),
    ...(marks?.language ? { langs: [marks.language] } : {}),
    ...(marks ? embedOf(marks) : {}),
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
