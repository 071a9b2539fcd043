/**
 * Authentication: an API key or a person's session, sent as a Bearer token or, by browsers, as a
 * cookie.
 */
import { LRUCache } from 'lru-cache'
import { WORKSPACE_HEADER } from '#contract/headers'
import type { RatePlan } from '#domain/app/rates'
import { hashApiKey, isApiKey } from '#kernel/api-key'
import { AppError, fail, refuseField } from '#kernel/errors'
import { isUuid } from '#kernel/ids'
import type { Log } from '#kernel/log'
import { type Access, scopes } from '#kernel/scopes'
import type { Tokens } from '#port/tokens'
import { findKey, type KeyGrant, keyLives, touchKeys } from '#store/app/keys'
import { findSession, type SessionGrant } from '#store/app/sessions'
import type { Db } from '#store/engine/db'
import type { Principal } from '#store/engine/principal'
import { bearerIn } from './bearer.ts'
import type { Cookies } from './cookies.ts'
import type { Incoming } from './incoming.ts'
import type { Origins } from './origin.ts'

/**
 * How many keys the LRU cache holds. A cached key does not outlive its revocation, because each
 * statement checks again that its key is valid.
 */
const CACHED_KEYS = 10_000
const TOUCH_EVERY_MS = 10_000

export interface AuthenticatedCaller {
  tenantId: string
  principal: Principal
  scopes: ReadonlySet<Access>
  /** The workspace's plan when the credential was looked up. */
  plan: RatePlan
  /** Set for a person. */
  session?: SessionGrant
}

type Authenticating = Pick<Incoming, 'request' | 'checked'>

export interface Authenticator extends AsyncDisposable {
  /**
   * Returns at once for a cached key. Throws or rejects with `unauthenticated` for an unknown or
   * ended credential, with `forbidden` if a foreign page made the browser send its cookie, and with
   * `conflict` if the request names another workspace than that of the credential.
   */
  authenticate(incoming: Authenticating): AuthenticatedCaller | Promise<AuthenticatedCaller>
  /** Has the key looked up again when it is used next. */
  forget(caller: Pick<AuthenticatedCaller, 'principal'>): void
  /**
   * Throws `unauthenticated` if the key is no longer valid. Call it after a refusal, which may have
   * come before any statement checked the key.
   */
  confirm(caller: AuthenticatedCaller): Promise<void>
}

export interface AuthParts {
  db: Db
  tokens: Tokens
  cookies: Cookies
  origins: Origins
  log: Log
}

/** Records, every few seconds, when keys were last used. */
const recordUses = (db: Db, log: Log): AsyncDisposable & { used(keyId: string): void } => {
  const used = new Set<string>()
  const flush = async (): Promise<void> => {
    const ids = [...used]
    used.clear()
    if (ids.length > 0)
      await touchKeys(db, ids).catch((cause) =>
        log.warn({ err: cause }, 'could not record the last use of keys'),
      )
  }
  const timer = setInterval(() => void flush(), TOUCH_EVERY_MS)
  return {
    used: (keyId) => void used.add(keyId),
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await flush()
    },
  }
}

export const createAuthenticator = ({
  db,
  tokens,
  cookies,
  origins,
  log,
}: AuthParts): Authenticator => {
  /** Callers by the hash of their key. */
  const cache = new LRUCache<string, AuthenticatedCaller>({ max: CACHED_KEYS })
  const uses = recordUses(db, log)
  const cachedKey = (name: string): AuthenticatedCaller | undefined => {
    const caller = cache.get(name)
    if (caller) uses.used(caller.principal.id)
    return caller
  }
  const forget: Authenticator['forget'] = ({ principal }) => {
    for (const [name, cached] of cache) if (cached.principal.id === principal.id) cache.delete(name)
  }
  const byKey = async (
    incoming: Authenticating,
    key: string,
    name: string,
  ): Promise<AuthenticatedCaller> => {
    const grant = await incoming.checked(() => findKey(db, hashApiKey(key)))
    if (!grant) throw new AppError('unauthenticated')
    const caller = keyCaller(grant)
    // A member's key is not cached, because its access changes with the member.
    if (!grant.member) cache.set(name, caller)
    uses.used(grant.id)
    return caller
  }
  const identify: Authenticator['authenticate'] = (incoming) => {
    const credential = credentialOf(incoming.request, { cookies, origins })
    if (!isApiKey(credential)) return bySession({ db, tokens, incoming }, credential)
    const name = Bun.SHA256.hash(credential, 'base64')
    return cachedKey(name) ?? byKey(incoming, credential, name)
  }
  return {
    authenticate(incoming) {
      const known = identify(incoming)
      const inNamed = (caller: AuthenticatedCaller) => requireNamed(incoming.request, caller)
      return known instanceof Promise ? known.then(inNamed) : inNamed(known)
    },
    forget,
    async confirm({ principal }) {
      if (principal.kind !== 'key' || (await keyLives(db, principal))) return
      forget({ principal })
      throw new AppError('unauthenticated')
    },
    [Symbol.asyncDispose]: () => uses[Symbol.asyncDispose](),
  }
}

/** The credential in the header or, if there is none, in the cookie of one of our pages. */
const credentialOf = (
  request: Request,
  { cookies, origins }: Pick<AuthParts, 'cookies' | 'origins'>,
): string => {
  const isSent = request.headers.has('authorization')
  const cookie = isSent ? undefined : cookies.access(request)
  if (cookie !== undefined) requireOwnPage(request, origins)
  return (
    cookie ??
    bearerIn(request) ??
    fail('unauthenticated', isSent ? '' : 'send an API key as Authorization: Bearer <key>')
  )
}

/**
 * CSRF protection: browsers send cookies with requests of any page, so a request that changes
 * something must come from ours.
 */
const requireOwnPage = (request: Request, origins: Origins): void => {
  if (request.method === 'GET' || request.method === 'HEAD' || origins.isSurelyOurs(request)) return
  throw new AppError('forbidden', 'requests with cookies must come from a page of this deployment')
}

/**
 * The caller, if it is in the workspace that the request names. The tabs of a browser share one
 * session, and any of them may have moved it to another workspace since this one was drawn.
 */
const requireNamed = ({ headers }: Request, caller: AuthenticatedCaller): AuthenticatedCaller => {
  const named = headers.get(WORKSPACE_HEADER)?.toLowerCase()
  if (named === undefined || named === caller.tenantId) return caller
  if (!isUuid(named)) refuseField(WORKSPACE_HEADER, 'must be the id of a workspace')
  return fail(
    'conflict',
    `your session or key is not in the workspace that ${WORKSPACE_HEADER} names`,
    { reason: 'other_workspace' },
  )
}

const keyCaller = ({
  id,
  tenantId,
  scopes: granted,
  member,
  name,
  plan,
}: KeyGrant): AuthenticatedCaller => ({
  tenantId,
  plan,
  principal: { kind: 'key', id, name, ...(member ? { member } : {}) },
  scopes: new Set(granted),
})

/** A session has every scope; the person's role limits it. */
const SESSION_SCOPES: ReadonlySet<Access> = new Set([...scopes, 'session' as const])

const bySession = async (
  { db, tokens, incoming }: { db: Db; tokens: Tokens; incoming: Authenticating },
  token: string,
): Promise<AuthenticatedCaller> => {
  const claims = await tokens.readAccess(token)
  const session = claims && (await incoming.checked(() => findSession(db, claims.sessionId)))
  if (!session || session.person.id !== claims.personId) throw new AppError('unauthenticated')
  const member = { personId: session.person.id, role: session.workspace.role }
  const { name } = session.person
  const principal = { kind: 'session', id: session.id, name, member } as const
  return {
    tenantId: session.workspace.id,
    principal,
    scopes: SESSION_SCOPES,
    plan: session.plan,
    session,
  }
}
