/** Access to an account that its owner grants on a page of the account's own server. */
import { createHash, randomBytes } from 'node:crypto'
import { fail, refuseField } from '#kernel/errors'
import { asObject, parseObject } from '#port/fields'
import { NetworkError } from '../../network.ts'
import type { BlueskySettings } from '../account.ts'
import { isOwnKey, type OauthSession, type OwnKey } from '../credentials.ts'
import { type DidOwner, ownerOfDid, ownerOfHandle } from '../identity.ts'
import { isDid } from '../refs.ts'
import { type BlueskySignedIn, displayNameOf, identifierIn, serviceOf } from '../session.ts'
import { signOut } from '../sign-out.ts'
import { OAUTH_SCOPE, type OauthParty } from './client.ts'
import { newOwnKey } from './dpop.ts'
import { type AuthServer, authServerOf, issuerOf, noAnswer, notAsProtocol } from './server.ts'
import { askAuthServer, INVALID_GRANT, oauthErrorIn, tokensIn } from './tokens.ts'

export interface OauthWish {
  /** A handle or a DID; without one, the person chooses the account on the server's page. */
  handle: string | null
  service: string | null
}

/** What we keep while a person is on the server's page. */
export interface PendingOauth {
  issuer: string
  tokenUrl: string
  revokeUrl: string | null
  clientId: string
  redirectUrl: string
  /** By which we prove that we began it (PKCE). */
  verifier: string
  key: OwnKey
  /** The account that was named, if one was. */
  did: string | null
}

const NO_PARTY =
  'the sign-in by OAuth needs PUBLIC_URL to be an https address, or this machine (localhost): connect the account by an app password'

/** Throws `conflict` where nobody can be asked for access. */
const requireParty = ({ client: { party } }: Pick<BlueskySettings, 'client'>): OauthParty =>
  party ?? fail('conflict', NO_PARTY, { reason: 'missing_prerequisite' })

/** Throws if the wish alone rules it out. */
export const checkOauthWish = (
  settings: Pick<BlueskySettings, 'client' | 'egress' | 'service'>,
  { handle, service }: OauthWish,
): { identifier: string | null; at: string } => {
  requireParty(settings)
  return {
    identifier: handle === null ? null : identifierIn(handle),
    at: serviceOf(settings, service ?? undefined),
  }
}

const ownerNamed = async (
  settings: BlueskySettings,
  { identifier, at }: { identifier: string; at: string },
  signal: AbortSignal,
): Promise<DidOwner & { pds: string }> => {
  const owner = isDid(identifier)
    ? await ownerOfDid(settings, identifier, signal)
    : await ownerOfHandle(settings, { handle: identifier, at }, signal)
  if (!owner) return refuseField('handle', 'leads to no account: check how it is written')
  const { pds } = owner
  if (pds === null) return refuseField('handle', 'leads to an account without a server')
  return { ...owner, pds }
}

interface Sought {
  server: AuthServer
  did: string | null
  /** For the server to fill in. */
  hint: string | null
}

const seek = async (
  settings: BlueskySettings,
  wish: OauthWish,
  signal: AbortSignal,
): Promise<Sought> => {
  const { egress } = settings
  const { identifier, at } = checkOauthWish(settings, wish)
  if (identifier === null) {
    const server = await authServerOf(egress, { at, field: 'service' }, signal)
    return { server, did: null, hint: null }
  }
  const { did, pds } = await ownerNamed(settings, { identifier, at }, signal)
  const server = await authServerOf(egress, { at: pds, field: 'handle' }, signal)
  return { server, did, hint: identifier }
}

const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url')

const REQUEST_URI = /^[\x21-\x7e]{1,1000}$/

/**
 * Announces to the account's server that somebody comes. `state` comes back with the answer.
 * Returns the address to lead the person to. Throws `invalid_input`, `conflict` and `NetworkError`.
 */
export const beginOauth = async (
  settings: BlueskySettings,
  { state, ...wish }: OauthWish & { state: string },
  signal: AbortSignal,
): Promise<{ url: string; pending: PendingOauth }> => {
  const { id: clientId, redirectUrl } = requireParty(settings)
  const { server, did, hint } = await seek(settings, wish, signal)
  const { issuer, tokenUrl, revokeUrl } = server
  const [key, verifier] = [await newOwnKey(), randomBytes(32).toString('base64url')]
  const fields = {
    response_type: 'code',
    redirect_uri: redirectUrl,
    scope: OAUTH_SCOPE,
    state,
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
    ...(hint === null ? {} : { login_hint: hint }),
  }
  const asked = { url: server.pushUrl, issuer, clientId, key, fields }
  const answer = await askAuthServer(settings, asked, signal)
  if (answer.kind !== 'ok') {
    const name = oauthErrorIn(answer)
    if (name === undefined) throw noAnswer(issuer, answer)
    throw notAsProtocol(issuer, `it refuses this deployment (${name})`)
  }
  const { request_uri: requestUri } = answer.value
  if (typeof requestUri !== 'string' || !REQUEST_URI.test(requestUri))
    throw notAsProtocol(issuer, 'it names no request')
  const url = new URL(server.authorizeUrl)
  url.searchParams.set('client_id', clientId)
  url.searchParams.set('request_uri', requestUri)
  const pending = { issuer, tokenUrl, revokeUrl, clientId, redirectUrl, verifier, key, did }
  return { url: url.href, pending }
}

/** Throws if the text is of another kind; the error does not quote it. */
export const parsePendingOauth = (text: string): PendingOauth => {
  const value = asObject(parseObject(text))
  if (typeof value.verifier !== 'string' || !isOwnKey(value.key))
    throw new Error('this is no sign-in that waits')
  return value as unknown as PendingOauth
}

const SPENT = 'the network takes this sign-in no more: begin again'

const sessionOf = async (
  settings: BlueskySettings,
  { code, pending }: { code: string; pending: PendingOauth },
  signal: AbortSignal,
): Promise<{ session: Omit<OauthSession, 'pds'>; scopes: string[] }> => {
  const { issuer, tokenUrl: url, revokeUrl, clientId, redirectUrl, verifier, key } = pending
  const fields = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUrl,
    code_verifier: verifier,
  }
  const answer = await askAuthServer(settings, { url, issuer, clientId, key, fields }, signal)
  if (answer.kind !== 'ok') {
    if (oauthErrorIn(answer) === INVALID_GRANT)
      return fail('conflict', SPENT, { reason: 'too_late' })
    throw noAnswer(issuer, answer)
  }
  const issued = tokensIn(answer.value, Date.now())
  if (!issued) throw notAsProtocol(issuer, 'it gives no tokens of the protocol')
  const { scopes, ...tokens } = issued
  return { session: { issuer, tokenUrl: url, revokeUrl, clientId, key, ...tokens }, scopes }
}

const OTHER_ACCOUNT =
  'names another account than the one that signed in: begin again, and choose the account that you named'
const NO_WRITING =
  'the access that was granted does not cover posts: begin again, and grant it whole'

/**
 * The server of the account, by the document of its DID. A server could name anybody's account, so
 * it is believed only if it decides about that account.
 */
const housedAt = async (
  settings: BlueskySettings,
  { did, issuer }: { did: string; issuer: string },
  signal: AbortSignal,
): Promise<DidOwner & { pds: string }> => {
  const owner = await ownerOfDid(settings, did, signal)
  const pds = owner?.pds
  if (!owner || !pds) return fail('invalid_input', `the document of ${did} names no server`)
  const decides = await issuerOf(settings.egress, pds, signal)
  if ((decides ?? pds) === issuer) return { ...owner, pds }
  return fail(
    'invalid_input',
    `${issuer} does not decide about the account ${did}, whose server is ${pds}: begin again there`,
  )
}

/** The handle by which the account is found, or else its DID. */
const nameOf = async (
  settings: BlueskySettings,
  { did, handle, pds }: DidOwner & { pds: string },
  signal: AbortSignal,
): Promise<string> => {
  if (handle === null) return did
  const found = await ownerOfHandle(settings, { handle, at: pds }, signal).catch(
    (cause: unknown) => {
      if (cause instanceof NetworkError) return null
      throw cause
    },
  )
  return found?.did === did ? handle : did
}

const REVOKE_MS = 5_000

/**
 * Turns the code that came back into a session. Throws `invalid_input`, `conflict` and
 * `NetworkError`; a session that is of no use is ended.
 */
export const redeemOauth = async (
  settings: BlueskySettings,
  { code, pending }: { code: string; pending: PendingOauth },
  signal: AbortSignal,
): Promise<BlueskySignedIn<OauthSession>> => {
  const { session, scopes } = await sessionOf(settings, { code, pending }, signal)
  try {
    if (pending.did !== null && session.did !== pending.did) refuseField('handle', OTHER_ACCOUNT)
    if (!OAUTH_SCOPE.split(' ').every((one) => scopes.includes(one)))
      fail('invalid_input', NO_WRITING)
    const owner = await housedAt(settings, session, signal)
    const credentials: OauthSession = { ...session, pds: owner.pds }
    const handle = await nameOf(settings, owner, signal)
    const displayName = await displayNameOf(settings.egress, credentials, signal)
    return { credentials, handle, displayName }
  } catch (cause) {
    // The session is ended although the caller may have given up.
    const unused = { ...session, pds: session.issuer }
    await signOut(settings, unused, AbortSignal.timeout(REVOKE_MS)).catch(() => {})
    throw cause
  }
}
