/** What a text of Bluesky links to, mentions and is about, by offsets in its bytes. */
import type { Marks } from '#contract/records/growth/marks'
import { findLinks } from '#domain/growth/drafting/links'
import { graphemeLength } from '#domain/growth/length/grapheme-length'
import { handleIn } from './refs.ts'

/** Offsets are in UTF-16 units, the end exclusive. */
interface Place {
  start: number
  end: number
}

interface Facet extends Place {
  feature: object
}

const TAG = /(?<=^|\s)[#＃](\S{1,200})(?!\S)/gu
const PUNCTUATION_AT_END = /\p{P}+$/u
/** A keycap is no tag. */
const ANY_LETTER = /^(?!\ufe0f|\u20e3).*[\p{L}\p{Emoji_Presentation}]/su
const LONGEST_TAG = 64
const MENTION = /(?<=^|[\s(])@([a-z0-9][a-z0-9.-]{1,252})/gi

export const linksIn = (text: string): (Place & { uri: string })[] =>
  findLinks(text).flatMap(({ start, end, certain }) => {
    const written = text.slice(start, end)
    const uri = /^https?:\/\//i.test(written) ? written : `https://${written}`
    return certain && URL.canParse(uri) ? [{ start, end, uri }] : []
  })

/** Handles as they are written, whether anybody has them or not. */
export const mentionsIn = (text: string): (Place & { handle: string })[] =>
  Array.from(text.matchAll(MENTION), ({ index, 1: name = '' }) => {
    const written = name.replace(/[.-]+$/, '')
    return { start: index, end: index + 1 + written.length, handle: handleIn(written) }
  }).flatMap(({ handle, ...place }) => (handle === undefined ? [] : [{ ...place, handle }]))

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

const isApart = (one: Place, other: Place): boolean =>
  one.end <= other.start || one.start >= other.end

/** `mentions`: whoever was found for a handle; others stay plain text. */
export const facetsOf = (text: string, mentions: Marks['mentions']): object[] => {
  const ids = new Map(mentions.map(({ handle, id }) => [handle, id]))
  const links = linksIn(text).map(({ uri, ...place }) => ({
    ...place,
    feature: { $type: 'app.bsky.richtext.facet#link', uri },
  }))
  const people = mentionsIn(text).flatMap(({ handle, ...place }): Facet[] => {
    const did = ids.get(handle)
    return did === undefined
      ? []
      : [{ ...place, feature: { $type: 'app.bsky.richtext.facet#mention', did } }]
  })
  const others = [...people, ...tagsIn(text)].filter((one) =>
    links.every((link) => isApart(one, link)),
  )
  const bytes = (end: number) => Buffer.byteLength(text.slice(0, end))
  return [...links, ...others]
    .toSorted((one, other) => one.start - other.start)
    .map(({ start, end, feature }) => ({
      index: { byteStart: bytes(start), byteEnd: bytes(end) },
      features: [feature],
    }))
}
