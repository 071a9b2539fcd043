/** Ending sessions, however they were begun. */
import { NetworkError } from '../network.ts'
import type { BlueskySettings } from './account.ts'
import { type BlueskyCredentials, isOauth } from './credentials.ts'
import { failureWords, meaningOf, readError } from './errors.ts'
import { INVALID_GRANT, oauthErrorIn, revokeTokens } from './oauth/tokens.ts'
import { dropSession } from './session.ts'

const GONE = ['session_over', 'account_off']

/** Throws `NetworkError` if the session may live on. */
export const signOut = async (
  settings: BlueskySettings,
  session: BlueskyCredentials,
  signal: AbortSignal,
): Promise<void> => {
  const answer = isOauth(session)
    ? await revokeTokens(settings, session, signal)
    : await dropSession(settings.egress, session.service, session.refresh, signal)
  if (answer.kind === 'ok') return
  const isDone =
    (answer.kind === 'failed' && answer.status === 200) || oauthErrorIn(answer) === INVALID_GRANT
  if (!isDone && !GONE.includes(meaningOf(answer)))
    throw new NetworkError(readError(answer).reason, failureWords(answer))
}
