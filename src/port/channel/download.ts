/** The bytes of an attachment, with a provider's credential: to the provider's own hosts alone, whatever the message says. */
import type { Egress, EgressBytes } from '../egress/egress.ts'
import { EgressRefused } from '../egress/target.ts'
import type { Fetched } from './channel.ts'
import { AGENT } from './fields.ts'

interface Download {
  url: string
  token: string
  signal: AbortSignal
  /** What is wrong with an answer, in words; undefined if it is the file. */
  refusal(answer: EgressBytes): string | undefined
}

/** Documents have no more. */
const MOST_BYTES = 1_048_576
const DEADLINE_MS = 30_000
const TOO_MANY = 429

/** One request; a redirect is not followed. Never throws. */
export const downloadFrom = async (egress: Egress, { url, token, signal, refusal }: Download): Promise<Fetched<Uint8Array>> => {
  const headers = { authorization: `Bearer ${token}`, accept: '*/*', 'user-agent': AGENT }
  try {
    const answer = await egress.get({ url, headers, deadlineMs: DEADLINE_MS, maxBytes: MOST_BYTES, signal })
    const { status, bytes, complete } = answer
    if (status === TOO_MANY || status >= 500) return { kind: 'unreachable', error: `the file was not handed out (http ${status})` }
    const error = refusal(answer) ?? (status === 200 ? undefined : `the file is not there (http ${status})`)
    if (error !== undefined) return { kind: 'gone', error }
    if (complete) return { kind: 'fetched', value: bytes }
    return bytes.length >= MOST_BYTES
      ? { kind: 'gone', error: 'the file is too large' }
      : { kind: 'unreachable', error: 'the file broke off' }
  } catch (cause) {
    if (cause instanceof EgressRefused) return { kind: 'gone', error: `the address of the file is refused: ${cause.message}` }
    return { kind: 'unreachable', error: 'no answer came for the file' }
  }
}
