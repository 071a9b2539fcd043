import { APIError } from 'openai'
import type { ThinkFailure } from '#domain/agent/job/answer'
import { ThinkError } from '../thinker.ts'
import { TooLarge } from './bounded-fetch.ts'
import { failureOf, httpStatusOf } from './connection.ts'

const MOST_WORDS = 2_000
const LONGEST_WAIT_MS = 86_400_000

/** The provider's words. They are read to tell failures apart, and never shown. */
const wordsOf = ({ code, message }: APIError): string =>
  `${code ?? ''} ${message}`.slice(0, MOST_WORDS).toLowerCase()

const TOO_LONG =
  /context_length|context (length|window|size)|maximum context|prompt is too long|input is too long|too many (input )?tokens|reduce the length/

/**
 * Whether the words say that the server cannot call tools. Servers name the tools and say that they
 * lack something for them: "x does not support tools", "No endpoints found that support tool use",
 * "requires --enable-auto-tool-choice", "tools param requires --jinja". An error about the
 * transcript or a definition names tools too, but has none of these words.
 */
const isAboutTools = (words: string): boolean =>
  /\btool|function.?call/.test(words) && /support|require[sd]? --|enabled?\b/.test(words)

const SAYS_WHY: readonly (number | undefined)[] = [undefined, 400, 404, 413, 422, 500, 501]

const explainFailure = (cause: APIError, hasTools: boolean): ThinkFailure | undefined => {
  const status = httpStatusOf(cause)
  if (!SAYS_WHY.includes(status)) return undefined
  const words = wordsOf(cause)
  if (status === 413 || TOO_LONG.test(words)) return 'too_long'
  return hasTools && isAboutTools(words) ? 'no_tools' : undefined
}

/** Milliseconds. The header has a number of seconds or a date. */
const retryAfterOf = (headers: Headers | undefined): number | undefined => {
  const text = headers?.get('retry-after')?.trim()
  if (!text) return undefined
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return Number.isFinite(ms) && ms >= 0 ? Math.min(Math.ceil(ms), LONGEST_WAIT_MS) : undefined
}

const WAITS: readonly ThinkFailure[] = ['rate_limited', 'provider_error']

/**
 * Why a call failed. An error that is not an answer of the provider means that the stream broke or
 * could not be read.
 */
export const thinkErrorOf = (cause: unknown, hasTools: boolean): ThinkError => {
  if (cause instanceof ThinkError) return cause
  if (cause instanceof TooLarge) return new ThinkError('too_large')
  if (!(cause instanceof APIError)) return new ThinkError('broken')
  const failure = explainFailure(cause, hasTools) ?? failureOf(cause)
  return new ThinkError(failure, WAITS.includes(failure) ? retryAfterOf(cause.headers) : undefined)
}
