/** Calls to Meta's Graph API. Errors have a code, and their text is not shown. */
import { createHmac } from 'node:crypto'
import type { Egress } from '#port/egress/egress'
import { asObject, type JsonObject } from '#port/fields'
import {
  answerObject,
  callProvider,
  failUnanswered,
  isSuccess,
  type ProviderAnswer,
  type Unsent,
  waitOf,
} from '../answers.ts'
import type { OpenConnection } from '../channel.ts'

export interface GraphParts {
  egress: Egress
  urls: Readonly<Record<'whatsapp', string>>
}

export type GraphOutcome = { kind: 'ok'; answer: JsonObject } | Unsent

const WORDS: Record<number, string> = {
  0: 'Meta does not accept the access token',
  190: 'the access token has expired or was withdrawn',
  10: 'the access token lacks the permission whatsapp_business_messaging',
  33: 'Meta has no such phone number, or the access token may not see it',
  100: 'Meta refuses a parameter',
  368: 'the account is blocked for violating a policy of WhatsApp',
  130429: 'more messages than Meta takes at once',
  130497: 'the account may not write to people in that country',
  131005: 'the access token may not send from this number',
  131026: 'WhatsApp cannot deliver to this person',
  131030: 'the number is not among those that a test account may write to',
  131031: 'the account is locked',
  131042: 'the account has a problem with its payment',
  131047: 'the person wrote more than 24 hours ago: WhatsApp takes templates only',
  131048: 'too many messages of this number were marked as spam',
  131049: 'Meta did not deliver it, so that the person does not get too many messages',
  131056: 'too many messages to this person at once',
  133010: 'the number is not registered with the Cloud API',
  80007: 'the account has reached its limit of requests',
  4: 'the app has reached its limit of requests',
}

/**
 * Codes which mean that nothing can be sent with these credentials. Codes from 200 to 299 are about
 * permissions.
 */
const OF_CONNECTION = new Set([0, 3, 10, 33, 190, 368, 131005, 131031, 131042, 131045, 133010])
/**
 * Codes which mean that Meta took nothing but may do so later. For those with a time, a try must
 * wait at least that long.
 */
const LATER = new Map<number, number | undefined>([
  ...([4, 80007, 130429, 131048, 131057, 133016].map((code) => [code, undefined]) as [
    number,
    undefined,
  ][]),
  // One message per six seconds to the same person.
  [131056, 6_000],
])
/**
 * "Unknown error", "temporary downtime", "something went wrong", "service unavailable". They do not
 * say whether the error came before or after anything was done.
 */
const UNCLEAR = new Set([1, 2, 131000, 131016])

const TOO_MANY = 429

const WRONG_PROOF = 'the app secret is not that of the app which the access token was made for'

/** The error's code. If the request named something that does not exist, its subcode. */
const codeOf = ({ code, error_subcode: subcode }: JsonObject): number | undefined => {
  if (code === 100 && subcode === 33) return subcode
  return typeof code === 'number' ? code : undefined
}

export const errorOf = (code: number): string => {
  const known =
    WORDS[code] ?? (code >= 200 && code < 300 ? 'the access token lacks a permission' : undefined)
  return known === undefined ? `Meta refused (error ${code})` : `${known} (error ${code})`
}

const refusalOf = (code: number, answer: ProviderAnswer): Unsent => {
  const error = errorOf(code)
  if (LATER.has(code) || answer.status === TOO_MANY) {
    const usual = LATER.get(code)
    return {
      kind: 'unsent',
      error,
      ...(usual === undefined ? {} : { retryAfterMs: usual }),
      ...waitOf(answer),
    }
  }
  if (UNCLEAR.has(code) || answer.status >= 500) return { kind: 'unknown', error }
  return {
    kind: 'refused',
    error,
    of: OF_CONNECTION.has(code) || (code >= 200 && code < 300) ? 'connection' : 'message',
  }
}

const outcomeOf = (answer: ProviderAnswer): GraphOutcome => {
  const said = answerObject(answer)
  const error = asObject(said?.error)
  const code = codeOf(error)
  const { message } = error
  if (code === 100 && typeof message === 'string' && message.includes('appsecret_proof'))
    return { kind: 'refused', error: WRONG_PROOF, of: 'connection' }
  if (code !== undefined) return refusalOf(code, answer)
  if (said && isSuccess(answer)) return { kind: 'ok', answer: said }
  if (answer.status === TOO_MANY)
    return { kind: 'unsent', error: 'Meta asks for a pause (429)', ...waitOf(answer) }
  return { kind: 'unknown', error: `Meta's answer could not be read (http ${answer.status})` }
}

interface GraphCall {
  credentials: OpenConnection['credentials']
  path: string
  query?: Record<string, string>
  signal: AbortSignal
  /** If there is a body, the request is a POST. */
  body?: object
}

/**
 * Makes one request, which is never repeated. Never throws. Each request proves that we know the
 * app's secret: some apps are set to require this, and Meta refuses a proof that was made with
 * another secret.
 */
export const callGraph = async (
  { egress, urls }: GraphParts,
  { credentials, path, query, signal, body }: GraphCall,
): Promise<GraphOutcome> => {
  const { accessToken = '', appSecret = '' } = credentials
  const proof = createHmac('sha256', appSecret).update(accessToken).digest('hex')
  const url = `${urls.whatsapp}/${path}?${new URLSearchParams({ ...query, appsecret_proof: proof })}`
  const headers = {
    authorization: `Bearer ${accessToken}`,
    ...(body ? { 'content-type': 'application/json' } : {}),
  }
  const called = await callProvider(egress, {
    url,
    headers,
    signal,
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return called.kind === 'answered' ? outcomeOf(called) : failUnanswered(called)
}
