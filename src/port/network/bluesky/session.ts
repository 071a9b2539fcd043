/** Sessions of accounts that sign in with app passwords: begun, renewed and ended. */
import { fail, refuseField } from '#kernel/errors'
import { plainText } from '#kernel/plain-text'
import { beginning } from '#kernel/storable'
import type { Egress } from '#port/egress/egress'
import { EgressRefused } from '#port/egress/target'
import type { JsonObject } from '#port/fields'
import { NetworkError } from '../network.ts'
import type { BlueskySettings } from './account.ts'
import {
  type BlueskyCredentials,
  claimsIn,
  isToken,
  type PasswordSession,
  tokenEndsAt,
} from './credentials.ts'
import { meaningOf, offWords, readError } from './errors.ts'
import { originIn, ownerIn, ownerOfDid } from './identity.ts'
import { handleIn, isDid } from './refs.ts'
import { readRecord } from './repository.ts'
import { callXrpc, plainWords, type XrpcAnswer, type XrpcFailure } from './xrpc.ts'

export interface SignInWish {
  handle: string
  password: string
  service?: string
  /** Whether the app password is kept, so that a lost session is had again without a person. */
  keep: boolean
}

export interface BlueskySignedIn<C extends BlueskyCredentials = PasswordSession> {
  credentials: C
  handle: string
  displayName: string | null
}

const APP_PASSWORDS = 'https://bsky.app/settings/app-passwords'
const OWN_SCOPE = 'com.atproto.access'
const LONGEST_NAME = 640
const DROP_MS = 5_000

/** A DID, or a handle in its normal form. */
export const identifierIn = (text: string): string =>
  (isDid(text.trim()) ? text.trim() : handleIn(text)) ??
  refuseField('handle', 'is no handle: write it as in alice.bsky.social, or give the DID')

/** The server that was named, or the deployment's. Throws `invalid_input`. */
export const serviceOf = (
  { egress, service }: Pick<BlueskySettings, 'egress' | 'service'>,
  wanted: string | undefined,
): string => {
  const origin =
    originIn((wanted ?? service).trim()) ??
    refuseField('service', 'must be the address of a server alone, as in https://bsky.social')
  try {
    egress.check(origin)
    return origin
  } catch (cause) {
    if (!(cause instanceof EgressRefused)) throw cause
    return refuseField('service', `cannot be called: ${cause.message}`)
  }
}

/** What a server says when a session begins or is renewed, if it has the protocol's form. */
export interface SessionAnswer {
  did: string
  access: string
  refresh: string
  handle: string | undefined
  document: unknown
  /** Why the account cannot be used now; null if it can. */
  off: string | null
}

export const sessionIn = (value: JsonObject): SessionAnswer | undefined => {
  const { did, accessJwt: access, refreshJwt: refresh, handle, didDoc: document } = value
  if (!isDid(did) || !isToken(access) || !isToken(refresh)) return undefined
  return {
    did,
    access,
    refresh,
    document,
    handle: typeof handle === 'string' ? handleIn(handle) : undefined,
    off: value.active === false ? offWords(String(value.status ?? '')) : null,
  }
}

export const beginXrpcSession = (
  egress: Egress,
  { at, identifier, password }: { at: string; identifier: string; password: string },
  signal: AbortSignal,
): Promise<XrpcAnswer> =>
  callXrpc(
    egress,
    { at, method: 'com.atproto.server.createSession', body: { identifier, password } },
    signal,
  )

/** Its words are ours, because a server could repeat the password in its own. */
const refuseSignIn = (answer: XrpcFailure, service: string): never => {
  const meaning = meaningOf(answer)
  const name = answer.kind === 'failed' ? answer.error?.name : undefined
  if (answer.kind === 'unsent' && answer.isForbidden)
    return refuseField('service', `cannot be called: ${answer.words}`)
  if (name === 'AuthFactorTokenRequired') return refuseOwnPassword()
  if (meaning === 'account_off')
    return refuseField(
      'handle',
      `names an account that ${service} has closed or suspended (${name}): ask there`,
    )
  if (meaning === 'no_access' || meaning === 'session_over')
    return refuseField(
      'app_password',
      `is not one that ${service} accepts for this handle: make a new one at ${APP_PASSWORDS}, and check the handle; if the account is on another server, name it as the service`,
    )
  if (meaning === 'refused' || meaning === 'absent')
    return fail('invalid_input', `${service} refused to sign in (${name})`)
  throw readError(answer)
}

const refuseOwnPassword = (): never =>
  refuseField(
    'app_password',
    `is the account's own password, which is never used here: make an app password at ${APP_PASSWORDS}`,
  )

/** Ends a session that is of no use. Whether it worked changes nothing for the person. */
export const dropSession = (
  egress: Egress,
  at: string,
  refresh: string,
  signal: AbortSignal,
): Promise<XrpcAnswer> => {
  const method = 'com.atproto.server.deleteSession'
  return callXrpc(egress, { at, method, post: true, token: refresh }, signal)
}

/**
 * The document of a DID comes along with a session. Of a server that somebody named it counts for
 * nothing: it could claim anybody's DID, and would then get what was approved for that account.
 */
const pdsOf = async (
  settings: BlueskySettings,
  { did, document }: SessionAnswer,
  service: string,
  signal: AbortSignal,
): Promise<string> => {
  const isTold = document !== undefined && service === settings.service
  const owner = isTold ? ownerIn(did, document) : await ownerOfDid(settings, did, signal)
  const pds = owner?.pds ?? fail('invalid_input', `the document of ${did} names no server`)
  try {
    settings.egress.check(pds)
    return pds
  } catch (cause) {
    if (!(cause instanceof EgressRefused)) throw cause
    return fail('invalid_input', `the server of the account cannot be called: ${cause.message}`)
  }
}

/** Kept with the repository, so it needs no other server. Null if it cannot be read. */
export const displayNameOf = async (
  egress: Egress,
  { pds, did }: Pick<BlueskyCredentials, 'pds' | 'did'>,
  signal: AbortSignal,
): Promise<string | null> => {
  const ref = { repo: did, collection: 'app.bsky.actor.profile', key: 'self' }
  const found = await readRecord(egress, { at: pds, ref }, signal).catch(() => undefined)
  const name = found?.value.displayName
  const plain = typeof name === 'string' ? plainText(plainWords(beginning(name, LONGEST_NAME))) : ''
  return plain === '' ? null : plain
}

export const signIn = async (
  settings: BlueskySettings,
  { handle, password, service: wanted, keep }: SignInWish,
  signal: AbortSignal,
): Promise<BlueskySignedIn> => {
  const { egress } = settings
  const [identifier, service] = [identifierIn(handle), serviceOf(settings, wanted)]
  const answer = await beginXrpcSession(egress, { at: service, identifier, password }, signal)
  if (answer.kind !== 'ok') return refuseSignIn(answer, service)
  const session = sessionIn(answer.value) ?? refuseAnswer(service)
  try {
    requireUsable(session, identifier, service)
    const credentials = {
      service,
      pds: await pdsOf(settings, session, service, signal),
      did: session.did,
      access: session.access,
      refresh: session.refresh,
      password: keep ? password : null,
      accessEndsAt: tokenEndsAt(session.access, Date.now()),
      begunAgainAt: null,
    }
    const displayName = await displayNameOf(egress, credentials, signal)
    const name = session.handle ?? (isDid(identifier) ? session.did : identifier)
    return { credentials, handle: name, displayName }
  } catch (cause) {
    // The session is ended although the caller may have given up.
    await dropSession(egress, service, session.refresh, AbortSignal.timeout(DROP_MS))
    throw cause
  }
}

const refuseAnswer = (service: string): never => {
  throw new NetworkError('bad_answer', `${service} answered, but not as a server of the protocol`)
}

const requireUsable = (
  { did, access, off }: SessionAnswer,
  identifier: string,
  service: string,
): void => {
  if (isDid(identifier) && did !== identifier) refuseAnswer(service)
  if (claimsIn(access).scope === OWN_SCOPE) refuseOwnPassword()
  if (off !== null) refuseField('handle', `cannot be connected: ${off}; reactivate it first`)
}
