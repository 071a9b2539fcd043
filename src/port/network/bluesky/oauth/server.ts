/** Which server decides about the access to accounts, and where it is asked. */
import { refuseField } from '#kernel/errors'
import type { Egress } from '#port/egress/egress'
import { EgressRefused } from '#port/egress/target'
import type { JsonObject } from '#port/fields'
import { NetworkError } from '../../network.ts'
import { readError } from '../errors.ts'
import { originIn } from '../identity.ts'
import { getDocument, type XrpcFailure } from '../xrpc.ts'
import { ALGORITHM } from './dpop.ts'

export interface AuthServer {
  issuer: string
  /** The page to which people are led. */
  authorizeUrl: string
  tokenUrl: string
  /** Where a request is announced before somebody is led to the page. */
  pushUrl: string
  revokeUrl: string | null
}

const RESOURCE = '/.well-known/oauth-protected-resource'
const SERVER = '/.well-known/oauth-authorization-server'
const [TIMEOUT, TOO_MANY] = [408, 429]

/** The server itself says that it has no such thing. */
const isAbsent = (answer: XrpcFailure): boolean =>
  answer.kind === 'failed' &&
  answer.isComplete &&
  answer.status >= 400 &&
  answer.status < 500 &&
  ![TIMEOUT, TOO_MANY].includes(answer.status)

/** Its message has no words of others, and says what to do. */
export class OauthTrouble extends NetworkError {}

export const notAsProtocol = (at: string, what: string): OauthTrouble =>
  new OauthTrouble(
    'bad_answer',
    `${at} answers about signing in, but ${what}: try again later, or connect the account by an app password`,
  )

/** What a failed request to a server about signing in is thrown as. */
export const noAnswer = (at: string, answer: XrpcFailure): OauthTrouble => {
  const { reason, retryAfterMs } = readError(answer)
  if (reason === 'bad_answer') return notAsProtocol(at, 'not as the protocol says')
  const why =
    answer.kind === 'unsent' && answer.isForbidden ? 'cannot be called' : 'does not answer'
  return new OauthTrouble(
    reason,
    `${at} ${why}: try again in a moment, or connect the account by an app password`,
    retryAfterMs,
  )
}

/** Undefined if there is no such document. */
const documentAt = async (
  egress: Egress,
  { at, path }: { at: string; path: string },
  signal: AbortSignal,
): Promise<JsonObject | undefined> => {
  const answer = await getDocument(egress, at + path, signal)
  if (answer.kind === 'ok') return answer.value
  if (answer.kind === 'text') throw notAsProtocol(at, `${path} is not JSON`)
  if (isAbsent(answer)) return undefined
  throw noAnswer(at, answer)
}

const isCallable = (egress: Egress, url: string): boolean => {
  try {
    egress.check(url)
    return true
  } catch (cause) {
    if (cause instanceof EgressRefused) return false
    throw cause
  }
}

const urlIn = (egress: Egress, document: JsonObject, name: string): string | undefined => {
  const url = document[name]
  return typeof url === 'string' && isCallable(egress, url) ? url : undefined
}

const lists = (document: JsonObject, name: string, wanted: string): boolean => {
  const listed = document[name]
  return Array.isArray(listed) && listed.includes(wanted)
}

const serverIn = (egress: Egress, issuer: string, document: JsonObject): AuthServer => {
  if (document.issuer !== issuer) throw notAsProtocol(issuer, 'its document is that of another')
  const wanting = (what: string): never => {
    throw notAsProtocol(issuer, `it lacks ${what}`)
  }
  const url = (name: string): string =>
    urlIn(egress, document, name) ?? wanting(`an address for ${name} that can be called`)
  if (!lists(document, 'code_challenge_methods_supported', 'S256')) wanting('PKCE by S256')
  if (!lists(document, 'dpop_signing_alg_values_supported', ALGORITHM))
    wanting(`DPoP by ${ALGORITHM}`)
  return {
    issuer,
    authorizeUrl: url('authorization_endpoint'),
    tokenUrl: url('token_endpoint'),
    pushUrl: url('pushed_authorization_request_endpoint'),
    revokeUrl: urlIn(egress, document, 'revocation_endpoint') ?? null,
  }
}

/** The server that decides about accounts on a PDS; null if it names none. */
export const issuerOf = async (
  egress: Egress,
  pds: string,
  signal: AbortSignal,
): Promise<string | null> => {
  const document = await documentAt(egress, { at: pds, path: RESOURCE }, signal)
  if (!document) return null
  if (document.resource !== pds) throw notAsProtocol(pds, 'its document is that of another')
  const named: unknown[] = Array.isArray(document.authorization_servers)
    ? document.authorization_servers
    : []
  const issuer = named.length === 1 ? originIn(named[0]) : undefined
  if (issuer === undefined || issuer !== named[0])
    throw notAsProtocol(pds, 'it does not name one server for it')
  if (!isCallable(egress, issuer)) throw notAsProtocol(pds, 'it names one that cannot be called')
  return issuer
}

/**
 * Throws `invalid_input` if it has no sign-in by OAuth, and `NetworkError`. `at`: a PDS, or the
 * server itself.
 */
export const authServerOf = async (
  egress: Egress,
  { at, field }: { at: string; field: 'handle' | 'service' },
  signal: AbortSignal,
): Promise<AuthServer> => {
  const issuer = (await issuerOf(egress, at, signal)) ?? at
  const document = await documentAt(egress, { at: issuer, path: SERVER }, signal)
  if (document) return serverIn(egress, issuer, document)
  return refuseField(
    field,
    `leads to ${at}, which has no sign-in by OAuth: connect the account by an app password`,
  )
}
