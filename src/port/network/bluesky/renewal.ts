/** Renewing a session, which gives up nothing for want of an answer. */
import type { BlueskySettings } from './account.ts'
import {
  type BlueskyCredentials,
  isOauth,
  type PasswordSession,
  tokenEndsAt,
} from './credentials.ts'
import { meaningOf, offWords, unanswered } from './errors.ts'
import { ownerIn } from './identity.ts'
import { renewOauth } from './oauth/renewing.ts'
import { beginXrpcSession, type SessionAnswer, sessionIn } from './session.ts'
import { callXrpc, type XrpcAnswer, type XrpcFailure } from './xrpc.ts'

export type BlueskyRenewal =
  | { kind: 'renewed'; credentials: BlueskyCredentials }
  /**
   * Nobody answered, or an answer that proves nothing: try again, at the earliest after
   * `retryAfterMs`.
   */
  | { kind: 'unanswered'; detail: string; retryAfterMs?: number }
  /**
   * The server refuses the session and, where a password is kept, the password: a person must sign
   * in again.
   */
  | { kind: 'refused'; reason: string }
  /**
   * Taken down, suspended or deactivated. The session may have been renewed all the same, and its
   * old token is then used up.
   */
  | { kind: 'suspended'; reason: string; credentials?: BlueskyCredentials }

const PASSWORD_REFUSED =
  'the server accepts neither the session nor the app password that was kept: sign in again with a new one'
const SESSION_REFUSED = 'the server no longer accepts the session: sign in again'

const suspended = (answer: XrpcFailure): BlueskyRenewal => ({
  kind: 'suspended',
  reason: offWords((answer.kind === 'failed' && answer.error?.name) || ''),
})

type Trusted = Pick<BlueskySettings, 'egress' | 'service' | 'client'>

/**
 * As the document says that came along from the deployment's own service; another server's, or one
 * that cannot be used, changes nothing.
 */
const pdsNow = (
  { service: trusted }: Trusted,
  { did, document }: SessionAnswer,
  { service, pds: before }: PasswordSession,
): string => {
  try {
    const isTold = document !== undefined && service === trusted
    return (isTold ? ownerIn(did, document).pds : null) ?? before
  } catch {
    return before
  }
}

const renewedBy = (
  settings: Trusted,
  before: PasswordSession,
  answer: Extract<XrpcAnswer, { kind: 'ok' }>,
): BlueskyRenewal => {
  const session = sessionIn(answer.value)
  if (!session || session.did !== before.did)
    return { kind: 'unanswered', detail: 'an answer that is not of the protocol' }
  const { access, refresh, off } = session
  const credentials = {
    ...before,
    pds: pdsNow(settings, session, before),
    access,
    refresh,
    accessEndsAt: tokenEndsAt(access, Date.now()),
  }
  return off === null
    ? { kind: 'renewed', credentials }
    : { kind: 'suspended', reason: off, credentials }
}

/** A server that ends each session at once gets no storm of sign-ins. */
const BEGINS_EVERY_MS = 3_600_000

const byPassword = async (
  settings: Trusted,
  before: PasswordSession,
  password: string,
  signal: AbortSignal,
): Promise<BlueskyRenewal> => {
  const { service: at, did: identifier, begunAgainAt } = before
  const now = Date.now()
  const retryAfterMs = begunAgainAt === null ? 0 : begunAgainAt + BEGINS_EVERY_MS - now
  // A longer wait means that the clock stepped back.
  if (retryAfterMs > 0 && retryAfterMs <= BEGINS_EVERY_MS)
    return { kind: 'unanswered', detail: 'it has signed in again within the hour', retryAfterMs }
  const answer = await beginXrpcSession(settings.egress, { at, identifier, password }, signal)
  if (answer.kind === 'ok') return renewedBy(settings, { ...before, begunAgainAt: now }, answer)
  const meaning = meaningOf(answer)
  if (meaning === 'account_off') return suspended(answer)
  return meaning === 'no_access' || meaning === 'session_over'
    ? { kind: 'refused', reason: PASSWORD_REFUSED }
    : unanswered(answer)
}

/** The refresh token is given up only when the server itself refuses it. Never throws. */
export const renewBlueskySession = async (
  settings: Trusted,
  before: BlueskyCredentials,
  signal: AbortSignal,
): Promise<BlueskyRenewal> => {
  if (isOauth(before)) return renewOauth(settings, before, signal)
  const { service: at, refresh: token, password } = before
  const method = 'com.atproto.server.refreshSession'
  const answer = await callXrpc(settings.egress, { at, method, post: true, token }, signal)
  if (answer.kind === 'ok') return renewedBy(settings, before, answer)
  const meaning = meaningOf(answer)
  if (meaning === 'account_off') return suspended(answer)
  if (meaning !== 'session_over') return unanswered(answer)
  return password === null
    ? { kind: 'refused', reason: SESSION_REFUSED }
    : byPassword(settings, before, password, signal)
}
