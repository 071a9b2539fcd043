/** Handles, DIDs, and the ids and URLs of posts: what can be told of them without the network. */
import { plainText } from '#kernel/plain-text'

export const POST = 'app.bsky.feed.post'

const HANDLE =
  /^(?=.{3,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const DID = /^did:[a-z]{1,20}:[A-Za-z0-9._:%-]{0,200}[A-Za-z0-9._-]$/
const RECORD_KEY = /^(?!\.{1,2}$)[A-Za-z0-9._:~-]{1,512}$/
const AT_URI = /^at:\/\/([^/\s]{1,300})\/([A-Za-z0-9.-]{1,317})\/([^/\s]{1,512})$/
const PROFILE_PATH = /^\/profile\/([^/]{1,300})\/post\/([^/]{1,512})\/?$/
/** The servers write it in place of a handle that does not lead back to its account. */
const NO_HANDLE = 'handle.invalid'

export const isDid = (text: unknown): text is string => typeof text === 'string' && DID.test(text)

/** In its normal form; undefined if the text is no handle. */
export const handleIn = (text: string): string | undefined => {
  const name = plainText(text.slice(0, 1_000)).replace(/^@/, '').toLowerCase()
  return HANDLE.test(name) && name !== NO_HANDLE ? name : undefined
}

export interface RecordRef {
  /** A DID, or a handle in its normal form. */
  repo: string
  collection: string
  key: string
}

export const atUri = ({ repo, collection, key }: RecordRef): string =>
  `at://${repo}/${collection}/${key}`

const refOf = (repo = '', collection = '', key = ''): RecordRef | undefined => {
  const name = isDid(repo) ? repo : handleIn(repo)
  return name !== undefined && RECORD_KEY.test(key) ? { repo: name, collection, key } : undefined
}

export const recordRefIn = (uri: unknown): RecordRef | undefined => {
  const parts = typeof uri === 'string' ? AT_URI.exec(uri) : null
  return parts ? refOf(parts[1], parts[2], parts[3]) : undefined
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

const KNOWN_HOST = 'bsky.app'

/** The post that an address names: an `at://` address, or a page of the network's own website. */
export const postRefIn = (text: string, appUrl: string): RecordRef | undefined => {
  const trimmed = text.slice(0, 2_048).trim()
  const named = recordRefIn(trimmed)
  if (named) return named.collection === POST ? named : undefined
  const url = URL.parse(trimmed)
  if (!url || !['https:', 'http:'].includes(url.protocol)) return undefined
  if (![KNOWN_HOST, URL.parse(appUrl)?.host].includes(url.host)) return undefined
  const [, repo = '', key = ''] = PROFILE_PATH.exec(url.pathname) ?? []
  return refOf(decoded(repo), POST, decoded(key))
}

/** The id of a post, as far as the address tells it: a handle leads to one only by asking. */
export const postIdInRef = (text: string, appUrl: string): string | undefined => {
  const ref = postRefIn(text, appUrl)
  return ref && isDid(ref.repo) ? atUri(ref) : undefined
}

/** The page of a post. */
export const postUrl = (appUrl: string, repo: string, key: string): string =>
  `${appUrl}/profile/${repo}/post/${key}`
