/** Calls to Slack's Web API. A refusal comes with status 200 and `ok: false`. */
import type { Egress } from '#port/egress/egress'
import type { JsonObject } from '#port/fields'
import {
  answerObject,
  callProvider,
  failUnanswered,
  isSuccess,
  type ProviderAnswer,
  type Unsent,
  waitOf,
} from '../answers.ts'

export type SlackOutcome =
  | { kind: 'ok'; answer: JsonObject; scopes: readonly string[] | undefined }
  | Unsent

/** Errors which mean that the token, or its app, no longer works. */
const OF_CONNECTION = new Set([
  ...[
    'invalid_auth',
    'not_authed',
    'account_inactive',
    'token_revoked',
    'token_expired',
    'no_permission',
    'missing_scope',
  ],
  ...[
    'not_allowed_token_type',
    'org_login_required',
    'ekm_access_denied',
    'access_denied',
    'enterprise_is_restricted',
  ],
  ...[
    'team_access_not_granted',
    'two_factor_setup_required',
    'accesslimited',
    'deprecated_endpoint',
    'method_deprecated',
  ],
])
/** Errors by which Slack says that nothing was done, and that a later try may succeed. */
const LATER = new Set([
  'ratelimited',
  'rate_limited',
  'message_limit_exceeded',
  'request_timeout',
  'team_added_to_org',
])
/**
 * Slack says of these: "It's possible some aspect of the operation succeeded before the error was
 * raised."
 */
const UNCLEAR = new Set(['fatal_error', 'internal_error', 'service_unavailable'])

const ADVICE: Record<string, string> = {
  not_in_channel: 'the app is not in the channel: invite it there',
  channel_not_found: 'Slack finds no such channel, or the app may not see it',
  is_archived: 'the channel is archived',
  msg_too_long: 'the message is too long',
  invalid_auth: 'Slack does not accept the bot token',
  not_authed: 'Slack got no bot token',
  account_inactive: 'the bot token belongs to an app or a workspace that no longer exists',
  token_revoked: 'the bot token was revoked: install the app again',
  token_expired: 'the bot token has expired: install the app again, without token rotation',
  missing_scope: 'the app lacks a scope',
}

const wordsOf = (code: string, answer: JsonObject): string => {
  const needed =
    typeof answer.needed === 'string' && /^[a-z:,._ ]{1,200}$/.test(answer.needed)
      ? `, ${answer.needed}`
      : ''
  return `${ADVICE[code] ? `${ADVICE[code]}${needed} ` : 'Slack refused '}(${code})`
}

const refusalOf = (answer: JsonObject, wait: { retryAfterMs?: number }): Unsent => {
  const code =
    typeof answer.error === 'string' && /^[a-z0-9_]{1,80}$/.test(answer.error)
      ? answer.error
      : 'no_reason_given'
  const error = wordsOf(code, answer)
  if (LATER.has(code)) return { kind: 'unsent', error, ...wait }
  if (UNCLEAR.has(code)) return { kind: 'unknown', error }
  return { kind: 'refused', error, of: OF_CONNECTION.has(code) ? 'connection' : 'message' }
}

const TOO_MANY = 429

const outcomeOf = (answer: ProviderAnswer): SlackOutcome => {
  if (answer.status === TOO_MANY)
    return { kind: 'unsent', error: 'Slack asks for a pause (429)', ...waitOf(answer) }
  const said = answerObject(answer)
  if (said?.ok === false) return refusalOf(said, waitOf(answer))
  if (said?.ok === true && isSuccess(answer)) {
    const scopes = answer.headers['x-oauth-scopes']
    return {
      kind: 'ok',
      answer: said,
      scopes:
        typeof scopes === 'string' ? scopes.split(',').map((scope) => scope.trim()) : undefined,
    }
  }
  return { kind: 'unknown', error: `Slack's answer could not be read (http ${answer.status})` }
}

interface WebApiCall {
  /** Includes the name of the method. */
  url: string
  token: string
  args: Record<string, string>
  signal: AbortSignal
}

/**
 * Makes one request, which is never repeated. Never throws. It sends a form, because every method
 * accepts one but not every method accepts JSON.
 */
export const callSlack = async (
  egress: Egress,
  { url, token, args, signal }: WebApiCall,
): Promise<SlackOutcome> => {
  const headers = {
    'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
    authorization: `Bearer ${token}`,
  }
  const called = await callProvider(egress, {
    url,
    headers,
    body: String(new URLSearchParams(args)),
    signal,
  })
  return called.kind === 'answered' ? outcomeOf(called) : failUnanswered(called)
}
