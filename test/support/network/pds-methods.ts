/** A method of the fake PDS: what it wants, who may call it, and what it does. */
import type { IncomingMessage } from 'node:http'
import type { PdsCheck } from './pds-check.ts'
import { OauthError } from './pds-dpop.ts'
import { type PdsClaims, type PdsHeldAccount, type PdsWorld, XrpcError } from './pds-world.ts'

/**
 * `access`: any session. `own`: one by the account's own password. `refresh`: a refresh token;
 * `ended`: one that may have expired.
 */
export type PdsAuth = 'access' | 'own' | 'refresh' | 'ended'

export interface XrpcCall {
  world: PdsWorld
  url: string
  method: string
  /** Of a query, as strings, or of a procedure. */
  input: Record<string, unknown>
  /** Repeated names of a query. */
  query: URLSearchParams
  claims: PdsClaims
  caller: PdsHeldAccount
}

export interface XrpcMethod {
  verb: 'GET' | 'POST'
  auth?: PdsAuth
  /** Undefined: nothing is sent. */
  input?: PdsCheck
  run(call: XrpcCall): unknown
}

export const invalidRequest = (message: string): XrpcError =>
  new XrpcError(400, 'InvalidRequest', message)

/** What a PDS says for what it would ask an AppView, and has none. */
export const noAppView = (): XrpcError =>
  new XrpcError(502, 'UpstreamFailure', 'Upstream service unreachable')

const tokenOf = (authorization: string | undefined): string => {
  if (!authorization) throw new XrpcError(401, 'AuthMissing', 'Authentication Required')
  const [scheme = '', token, ...rest] = authorization.split(' ')
  if (!token || rest.length > 0)
    throw new XrpcError(400, 'InvalidToken', 'Malformed authorization header')
  if (/^(basic|dpop)$/i.test(scheme))
    throw new XrpcError(400, 'InvalidToken', 'Unexpected authorization type')
  if (!/^bearer$/i.test(scheme))
    throw new XrpcError(400, 'InvalidToken', `Unsupported authorization type: ${scheme}`)
  return token
}

type Asked = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

export const isProved = ({ headers: { authorization } }: Pick<Asked, 'headers'>): boolean =>
  /^dpop /i.test(authorization ?? '')

/** Of a session by OAuth, which may do what an app password may. */
const claimsByOauth = (world: PdsWorld, { method = '', url = '', headers }: Asked): PdsClaims => {
  try {
    const sub = world.oauth.sessionOf(method, url.split('?')[0]!, headers)
    return { scope: 'com.atproto.appPass', aud: '', sub, iat: 0, exp: 0 }
  } catch (cause) {
    if (cause instanceof OauthError) throw new XrpcError(401, cause.code, cause.message)
    throw cause
  }
}

export const claimsFor = (world: PdsWorld, auth: PdsAuth, asked: Asked): PdsClaims => {
  if (auth === 'access' && isProved(asked)) return claimsByOauth(world, asked)
  const { authorization } = asked.headers
  const isRefresh = auth === 'refresh' || auth === 'ended'
  const typ = isRefresh ? 'refresh+jwt' : 'at+jwt'
  const claims = world.claimsOf(tokenOf(authorization), typ, auth === 'ended')
  const isTakendown = claims.scope === 'com.atproto.takendown'
  if (isTakendown || (auth === 'own' && claims.scope !== 'com.atproto.access'))
    throw new XrpcError(400, 'InvalidToken', 'Bad token scope')
  return claims
}

/** An account that may write now. */
export const writingAccount = ({ world, claims }: XrpcCall, repo: string): PdsHeldAccount => {
  const account = world.find(repo)
  if (!account) throw new XrpcError(403, 'AccountNotFound', 'Account not found')
  if (account.status === 'takendown')
    throw new XrpcError(401, 'AccountTakedown', 'Account has been taken down')
  if (account.status === 'deactivated')
    throw new XrpcError(401, 'AccountDeactivated', 'Account is deactivated')
  if (account.did !== claims.sub)
    throw new XrpcError(401, 'AuthenticationRequired', 'Authentication Required')
  return account
}

/** An account that everybody can see. */
export const activeAccount = (world: PdsWorld, name: string): PdsHeldAccount | undefined => {
  const account = world.find(name)
  return account?.status === 'active' ? account : undefined
}
