/**
 * How Twilio signs its requests: HMAC-SHA1 over the URL and the sorted fields. For JSON, it is only
 * over the URL, which contains the body's hash.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { parse, stringify } from 'node:querystring'
import type { InboundPost } from '../channel.ts'
import { type PostedForm, postedForm } from '../posts.ts'

const HASH = 'bodySHA256'

/** Used instead of `new URL()`, which would encode characters that Twilio signed as they are. */
const URL_PARTS = /^(https?:\/\/)([^/?#]*?)(:\d+)?([/?#].*|)$/is

const withoutPort = (url: string): string => url.replace(URL_PARTS, '$1$2$4')

const withPort = (url: string): string =>
  url.replace(
    URL_PARTS,
    (_, scheme: string, host: string, port: string | undefined, rest: string) => {
      const usual = scheme.toLowerCase() === 'https://' ? ':443' : ':80'
      return `${scheme}${host}${port ?? usual}${rest}`
    },
  )

/** The URL with its query encoded as Twilio's older servers do it. */
const withLegacyQuery = (url: string): string => {
  const start = url.indexOf('?')
  return start === -1 ? url : `${url.slice(0, start)}?${stringify(parse(url.slice(start + 1)))}`
}

/** The forms of our address that Twilio may have signed. */
const candidates = (url: string): string[] => {
  const normal = URL.parse(url)?.href ?? url
  const forms = [withoutPort(url), withPort(url), withoutPort(normal), withPort(normal)]
  return [...new Set([...forms, ...forms.map(withLegacyQuery)])]
}

/** Sorted by name. The values of a name are sorted as well, and equal ones count once. */
const signedFields = ({ fields }: PostedForm): string => {
  const values = new Map<string, Set<string>>()
  for (const [name, value] of fields) values.set(name, (values.get(name) ?? new Set()).add(value))
  return [...values]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([name, all]) => [...all].sort().map((value) => name + value))
    .join('')
}

const isEqual = (given: string, expected: string): boolean => {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

const signatureOf = (authToken: string, url: string, fields: string): string =>
  createHmac('sha1', authToken).update(url).update(fields).digest('base64')

/** What the signature covers in addition to the URL. Undefined if nothing covers the body. */
const coveredOf = (post: InboundPost): string | undefined => {
  const hash = URL.parse(post.url)?.searchParams.get(HASH) ?? null
  if (hash !== null)
    return isEqual(hash, createHash('sha256').update(post.body).digest('hex')) ? '' : undefined
  const form = postedForm(post)
  return form && signedFields(form)
}

/** Takes constant time. Never throws. */
export const isSignedByTwilio = (post: InboundPost, authToken: string): boolean => {
  const covered = coveredOf(post)
  const sent = post.headers.get('x-twilio-signature') ?? ''
  const matches = candidates(post.url).map((url) =>
    isEqual(sent, signatureOf(authToken, url, covered ?? '')),
  )
  return matches.includes(true) && covered !== undefined && authToken !== ''
}
