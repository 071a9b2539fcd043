/** Reads one page of the web as text. */

import { textOfBytes } from './charset.ts'
import type { Egress, EgressBytes } from './egress.ts'
import { type PageText, textOfHtml } from './html-text.ts'

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

/**
 * Follows a few redirects, each of which is judged anew. A redirect that may not be followed is the
 * result. Throws `EgressRefused` or `Unreadable`, or a `TimeoutError` or the system's error if no
 * answer came.
 */
export const readPage = async (
  egress: Egress,
  { url, most, mayFollow }: PageRequest,
): Promise<WebPage> => {
  const signal = AbortSignal.timeout(DEADLINE_MS)
  let at = url
  for (let redirects = 0; ; redirects++) {
    const answer = await egress.get({
      url: at,
      headers,
      deadlineMs: DEADLINE_MS,
      maxBytes: MOST_BYTES,
      signal,
    })
    const next = redirectOf(answer, at)
    if (next === undefined) return read(answer, { url: at, most })
    if (!mayFollow(next))
      return {
        status: answer.status,
        finalUrl: at,
        type: null,
        title: null,
        text: '',
        isCut: false,
        redirect: next,
      }
    if (redirects === MOST_REDIRECTS)
      throw new Unreadable(`the address redirects more than ${MOST_REDIRECTS} times`)
    at = next
  }
}
