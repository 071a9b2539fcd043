/** Decides which requests to retry, and when. */
import { Failure } from './failure.ts'
import type { Host } from './host.ts'
import type { Ask, Reply } from './transport.ts'

const MAX_TRIES = 5
const MAX_MS = 60_000
const FIRST_PAUSE_MS = 200

/** An answer, or a connection error. */
export type TryResult = { reply: Reply } | { cause: unknown }

/** A certificate that is wrong now will also be wrong later. */
const HOPELESS = /^(CERT_|ERR_TLS|ERR_SSL|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|ERR_INVALID|HPE_)/

const codeOf = (text: string): string | undefined => {
  try {
    return (JSON.parse(text) as { error?: { code?: string } }).error?.code
  } catch {
    return undefined
  }
}

/** Whether the server refused the request before processing it. */
const isUntouched = (outcome: TryResult): boolean =>
  'cause' in outcome
    ? (outcome.cause as { code?: string } | undefined)?.code === 'ECONNREFUSED'
    : outcome.reply.status === 429

const isWorthIt = (outcome: TryResult): boolean => {
  if ('cause' in outcome && outcome.cause instanceof Failure) return false
  if ('cause' in outcome)
    return !HOPELESS.test(String((outcome.cause as { code?: string } | undefined)?.code ?? ''))
  const { status, text } = outcome.reply
  return (
    status === 429 || status === 503 || (status === 409 && codeOf(text) === 'idempotency_in_flight')
  )
}

/** Parses Retry-After, which is in seconds or a date. Returns milliseconds. */
export const retryDelayMs = (header: string | undefined, date = Date.now()): number | undefined => {
  if (header === undefined) return undefined
  if (/^\d+$/.test(header.trim())) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - date)
}

interface Past {
  tries: number
  elapsedMs: number
  /** Whether it is safe to send the request twice. */
  again: boolean
}

/** Milliseconds until the next try; undefined if there is none. */
export const pauseAfter = (
  outcome: TryResult,
  { tries, elapsedMs, again }: Past,
): number | undefined => {
  if (tries >= MAX_TRIES || !isWorthIt(outcome) || !(again || isUntouched(outcome)))
    return undefined
  const requested =
    'reply' in outcome ? retryDelayMs(outcome.reply.headers['retry-after']) : undefined
  const pause = requested ?? FIRST_PAUSE_MS * 2 ** (tries - 1)
  return elapsedMs + pause <= MAX_MS ? pause : undefined
}

/** Tries up to 5 times within 60 s. Returns the last outcome. */
export const retry = async (
  host: Host,
  attempt: () => Promise<Reply>,
  { again }: Pick<Ask, 'again'>,
): Promise<TryResult> => {
  const began = host.now()
  for (let tries = 1; ; tries++) {
    const outcome: TryResult = await attempt().then(
      (reply) => ({ reply }),
      (cause: unknown) => ({ cause }),
    )
    host.signal.throwIfAborted()
    const pause = pauseAfter(outcome, { tries, elapsedMs: host.now() - began, again })
    if (pause === undefined) return outcome
    await host.pause(pause)
  }
}
