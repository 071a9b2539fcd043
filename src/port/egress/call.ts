/** One request to a provider, which is never repeated, and what is certain about it afterwards. */
import { type Egress, type EgressRequest, type EgressStream, NotConnected } from './egress.ts'
import { EgressRefused } from './target.ts'

export type Called =
  | {
      kind: 'answered'
      status: number
      headers: EgressStream['headers']
      body: string
      isComplete: boolean
    }
  /** Nothing was sent, because the connection failed. */
  | { kind: 'unsent'; error: string }
  /** Nothing was sent, because our own rules forbid the address. */
  | { kind: 'forbidden'; error: string }
  /** The request may have arrived. */
  | { kind: 'unknown'; error: string }

/** Contains only codes and our own words, never the text of a foreign error. */
const wordsFor = (cause: unknown): string => {
  if (cause instanceof Error && cause.name === 'TimeoutError') return 'it did not answer in time'
  const { code } = (cause ?? {}) as { code?: unknown }
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code)
    ? `the connection failed: ${code}`
    : 'the connection failed'
}

/** Reads what arrives, up to the limit and until it breaks off. */
const readAll = async (
  body: ReadableStream<Uint8Array>,
): Promise<{ body: string; isComplete: boolean }> => {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of body) chunks.push(chunk)
    return { body: Buffer.concat(chunks).toString(), isComplete: true }
  } catch {
    return { body: Buffer.concat(chunks).toString(), isComplete: false }
  }
}

/**
 * Never throws. An answer whose body broke off still counts as an answer, because its status is
 * certain.
 */
export const callOnce = async (egress: Egress, request: EgressRequest): Promise<Called> => {
  try {
    const { status, headers, body } = await egress.open(request)
    return { kind: 'answered', status, headers, ...(await readAll(body)) }
  } catch (cause) {
    if (cause instanceof EgressRefused)
      return { kind: 'forbidden', error: `the address is refused: ${cause.message}` }
    if (cause instanceof NotConnected) return { kind: 'unsent', error: wordsFor(cause.cause) }
    return { kind: 'unknown', error: wordsFor(cause) }
  }
}
