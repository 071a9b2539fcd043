/** Attachments that a provider stores. */
import type { Egress, EgressBytes } from '../egress/egress.ts'
import { EgressRefused } from '../egress/target.ts'
import type { Fetched } from './channel.ts'

/** The most bytes of an attachment. */
const MOST_BYTES = 1_048_576
const MOST_REDIRECTS = 3
const DEADLINE_MS = 60_000
/** Statuses that will not change later. */
const GONE = new Set([400, 401, 403, 404, 410])

type Got = Fetched<Uint8Array> | { kind: 'redirect'; url: string }

interface Download {
  url: string
  headers: Record<string, string>
  /**
   * Why an answer is not the file, whatever its status, in words. Undefined if it may be the file.
   */
  refusal?(answer: EgressBytes): string | undefined
}

const gotOf = (answer: EgressBytes, url: string, refusal: Download['refusal']): Got => {
  const { status, headers, bytes, complete } = answer
  const error = refusal?.(answer)
  if (error !== undefined) return { kind: 'gone', error }
  const location = headers.location
  if ([301, 302, 303, 307, 308].includes(status) && typeof location === 'string') {
    const target = URL.parse(location, url)
    return target
      ? { kind: 'redirect', url: target.href }
      : { kind: 'gone', error: 'the provider redirects to what is no address' }
  }
  if (status >= 200 && status < 300) {
    if (complete) return { kind: 'fetched', value: bytes }
    if (bytes.length >= MOST_BYTES)
      return { kind: 'gone', error: `it has more than ${MOST_BYTES} bytes` }
    return { kind: 'unreachable', error: 'the connection broke off' }
  }
  return {
    kind: GONE.has(status) ? 'gone' : 'unreachable',
    error: `the provider answered with HTTP ${status}`,
  }
}

const getOnce = async (
  egress: Egress,
  { url, headers, refusal }: Download,
  signal: AbortSignal,
): Promise<Got> => {
  try {
    return gotOf(
      await egress.get({ url, headers, signal, deadlineMs: DEADLINE_MS, maxBytes: MOST_BYTES }),
      url,
      refusal,
    )
  } catch (cause) {
    if (cause instanceof EgressRefused)
      return { kind: 'gone', error: `the address is refused: ${cause.message}` }
    return { kind: 'unreachable', error: 'the connection failed' }
  }
}

/** Follows redirects, and sends the headers only within the same origin. Never throws. */
export const downloadFrom = async (
  egress: Egress,
  download: Download,
  signal: AbortSignal,
): Promise<Fetched<Uint8Array>> => {
  const { url, headers } = download
  let at = url
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const isSame = URL.parse(at)?.origin === URL.parse(url)?.origin
    const got = await getOnce(
      egress,
      { ...download, url: at, headers: isSame ? headers : {} },
      signal,
    )
    if (got.kind !== 'redirect') return got
    at = got.url
  }
  return { kind: 'gone', error: `the provider redirects more than ${MOST_REDIRECTS} times` }
}
