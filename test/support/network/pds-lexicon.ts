/** The lexicons of the records that Tendril writes, as far as a PDS checks them. */
import { lex, type PdsCheck } from './pds-check.ts'

const {
  atUri,
  cid,
  datetime,
  did,
  integer,
  isObject,
  language,
  list,
  object,
  text,
  tid,
  union,
  uri,
} = lex

const strongRef = object({ uri: atUri, cid })

const external = object({ external: object({ uri, title: text(), description: text() }) })
const quoted = object({ record: strongRef })
const pictures = object({ images: list(object({ alt: text() }), 4) })

const facet = object({
  index: object({ byteStart: integer(0), byteEnd: integer(0) }),
  features: list(
    union({
      'app.bsky.richtext.facet#link': object({ uri }),
      'app.bsky.richtext.facet#mention': object({ did }),
      'app.bsky.richtext.facet#tag': object({ tag: text({ bytes: 640, graphemes: 64 }) }),
    }),
  ),
})

const post = object({
  text: text({ bytes: 3_000, graphemes: 300 }),
  'facets?': list(facet),
  'reply?': object({ root: strongRef, parent: strongRef }),
  'embed?': union({
    'app.bsky.embed.external': external,
    'app.bsky.embed.record': quoted,
    'app.bsky.embed.images': pictures,
    'app.bsky.embed.recordWithMedia': object({ record: quoted }),
  }),
  'langs?': list(language, 3),
  'tags?': list(text({ bytes: 640, graphemes: 64 }), 8),
  createdAt: datetime,
})

const profile = object({
  'displayName?': text({ bytes: 640, graphemes: 64 }),
  'description?': text({ bytes: 2_560, graphemes: 256 }),
})

const self: PdsCheck = (value, path) =>
  value === 'self' ? undefined : `Expected "self" (got ${JSON.stringify(value)}) at ${path}`

const about = object({ subject: strongRef, createdAt: datetime })

const KNOWN: Record<string, { key: PdsCheck; record: PdsCheck }> = {
  'app.bsky.feed.post': { key: tid, record: post },
  'app.bsky.feed.like': { key: tid, record: about },
  'app.bsky.feed.repost': { key: tid, record: about },
  'app.bsky.graph.follow': { key: tid, record: object({ subject: did, createdAt: datetime }) },
  'app.bsky.actor.profile': { key: self, record: profile },
}

interface Written {
  collection: string
  rkey: string
  record: Record<string, unknown>
}

export const isKnownCollection = (collection: string): boolean => collection in KNOWN

/** Why this record cannot be kept under this key; undefined if it can. */
export const wrongWith = ({ collection, rkey, record }: Written): string | undefined => {
  if (!isObject(record) || record.$type !== collection)
    return `Invalid $type: expected ${collection}, got ${record.$type}`
  const known = KNOWN[collection]
  if (!known) return undefined
  const inKey = known.key(rkey, '$')
  const inRecord = known.record(record, '$.record')
  if (inRecord) return `Invalid ${collection} record: ${inRecord}`
  return inKey && `Invalid record key for ${collection}: ${inKey}`
}
