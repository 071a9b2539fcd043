/** Reads one page of the web as text. */

import { textOfBytes } from './charset.ts'
import type { Egress, EgressBytes } from './egress.ts'
import { type PageText, textOfHtml } from './html-text.ts'
import { headOfHtml, type PageHead } from './page-head.ts'

/**
 * The answer of the address cannot be read. The message contains nothing that the address wrote.
 */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

export interface WebPage extends PageText {
  status: number
  /** Where the redirects led. */
  finalUrl: string
  type: string | null
  /** An address that the page redirected to and that was not called. */
  redirect: string | null
}

export interface PageRequest {
  url: string
  /** The most characters of text. */
  most: number
  /** Whether a redirect may be followed to this address. */
  mayFollow(url: string): boolean
}

const MOST_REDIRECTS = 3
const MOST_BYTES = 1_048_576
/** For all requests of a page together. */
const DEADLINE_MS = 15_000

const HTML = new Set(['text/html', 'application/xhtml+xml'])
const PLAIN = new Set(['text/plain', 'text/markdown', 'application/json'])

const headers = {
  accept: 'text/html, text/markdown, text/plain, application/json;q=0.9',
  'user-agent': 'Tendril (fetch_url)',
}
const headHeaders = {
  accept: 'text/html, application/xhtml+xml',
  'user-agent': 'Tendril (link cards)',
}

const headerOf = ({ headers }: EgressBytes, name: string): string => String(headers[name] ?? '')

/** Throws unless the type is one that holds text. */
const typeOf = (contentType: string): string => {
  const type = contentType.split(';')[0]!.trim().toLowerCase()
  if (HTML.has(type) || PLAIN.has(type)) return type
  const kind =
    /^(image|audio|video|font)\//.exec(type)?.[1] ??
    (type === 'application/pdf' ? 'PDF' : undefined)
  const what =
    type === ''
      ? 'does not say what it is'
      : kind
        ? `is of the type ${kind}`
        : 'is of a type that is not text'
  throw new Unreadable(`the answer ${what}; only HTML, plain text, Markdown and JSON can be read`)
}

const plainText = (text: string, most: number): PageText => ({
  title: null,
  text: text.slice(0, most).trim(),
  isCut: text.length > most,
})

const read = async (
  answer: EgressBytes,
  { url, most }: { url: string; most: number },
): Promise<WebPage> => {
  const contentType = headerOf(answer, 'content-type')
  const { status, bytes, complete } = answer
  const isEmpty = bytes.length === 0
  const type = isEmpty ? null : typeOf(contentType)
  const whole = isEmpty ? '' : textOfBytes(bytes, contentType).toWellFormed().replaceAll('\0', '')
  const page =
    type !== null && HTML.has(type) ? await textOfHtml(whole, most) : plainText(whole, most)
  const text = page.text.slice(0, most).toWellFormed()
  return {
    status,
    finalUrl: url,
    type,
    title: page.title,
    text,
    isCut: page.isCut || !complete,
    redirect: null,
  }
}

const redirectOf = (answer: EgressBytes, url: string): string | undefined => {
  const location = headerOf(answer, 'location')
  if (![301, 302, 303, 307, 308].includes(answer.status) || location === '') return undefined
  const target = URL.parse(location, url)
  if (!target) throw new Unreadable('the address redirects to what is no address')
  target.hash = ''
  return target.href
}

interface Fetching extends Pick<PageRequest, 'url' | 'mayFollow'> {
  headers: Record<string, string>
  deadlineMs: number
  signal: AbortSignal
}

interface Fetched {
  answer: EgressBytes
  /** Whose answer it is. */
  at: string
  /** Where it leads, if that may not be followed. */
  redirect: string | null
}

/** Each redirect is judged anew. */
const fetchPage = async (
  egress: Egress,
  { url, mayFollow, ...request }: Fetching,
): Promise<Fetched> => {
  let at = url
  for (let redirects = 0; ; redirects++) {
    const answer = await egress.get({ ...request, url: at, maxBytes: MOST_BYTES })
    const next = redirectOf(answer, at)
    if (next === undefined) return { answer, at, redirect: null }
    if (!mayFollow(next)) return { answer, at, redirect: next }
    if (redirects === MOST_REDIRECTS)
      throw new Unreadable(`the address redirects more than ${MOST_REDIRECTS} times`)
    at = next
  }
}

/**
 * Follows a few redirects. One that may not be followed is the result. Throws `EgressRefused` or
 * `Unreadable`, or a `TimeoutError` or the system's error if no answer came.
 */
export const readPage = async (
  egress: Egress,
  { url, most, mayFollow }: PageRequest,
): Promise<WebPage> => {
  const signal = AbortSignal.timeout(DEADLINE_MS)
  const asking = { url, mayFollow, headers, deadlineMs: DEADLINE_MS, signal }
  const { answer, at, redirect } = await fetchPage(egress, asking)
  if (redirect === null) return read(answer, { url: at, most })
  const { status } = answer
  return { status, finalUrl: at, type: null, title: null, text: '', isCut: false, redirect }
}

/**
 * What a page says of itself; null if it is no page of HTML, or leads to where it may not. Follows
 * redirects and throws like `readPage`.
 */
export const readPageHead = async (
  egress: Egress,
  asked: Pick<Fetching, 'url' | 'mayFollow' | 'deadlineMs' | 'signal'>,
): Promise<{ status: number; head: PageHead | null }> => {
  const { answer, redirect } = await fetchPage(egress, { ...asked, headers: headHeaders })
  const { status, bytes } = answer
  const contentType = headerOf(answer, 'content-type')
  const type = contentType.split(';')[0]!.trim().toLowerCase()
  if (redirect !== null || !HTML.has(type)) return { status, head: null }
  return { status, head: await headOfHtml(textOfBytes(bytes, contentType)) }
}
