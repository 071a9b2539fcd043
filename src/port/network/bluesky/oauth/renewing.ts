/**
 * Renewing a session that was begun by OAuth. A refresh token is good once: if the answer is lost,
 * the server ends the session at the next use, and says so.
 */
import type { BlueskySettings } from '../account.ts'
import type { OauthSession } from '../credentials.ts'
import { unanswered } from '../errors.ts'
import { askAuthServer, INVALID_GRANT, oauthErrorIn, tokensIn } from './tokens.ts'

const ENDED = 'the server has ended the session: connect the account again'

type OauthRenewal =
  | { kind: 'renewed'; credentials: OauthSession }
  | ReturnType<typeof unanswered>
  | { kind: 'refused'; reason: string }

/** Given up only for `invalid_grant`. Throws only if our own key cannot be had. */
export const renewOauth = async (
  settings: Pick<BlueskySettings, 'egress' | 'client'>,
  before: OauthSession,
  signal: AbortSignal,
): Promise<OauthRenewal> => {
  const { issuer, tokenUrl: url, clientId, key, refresh } = before
  const fields = { grant_type: 'refresh_token', refresh_token: refresh }
  const answer = await askAuthServer(settings, { url, issuer, clientId, key, fields }, signal)
  if (answer.kind !== 'ok')
    return oauthErrorIn(answer) === INVALID_GRANT
      ? { kind: 'refused', reason: ENDED }
      : unanswered(answer)
  const issued = tokensIn(answer.value, Date.now())
  if (!issued || issued.did !== before.did)
    return { kind: 'unanswered', detail: 'an answer that is not of the protocol' }
  const { access, refresh: next, accessEndsAt } = issued
  return { kind: 'renewed', credentials: { ...before, access, refresh: next, accessEndsAt } }
}
