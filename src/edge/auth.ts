/** Who is calling: an API key, or a person's session, as Bearer credential or (in browsers) as a cookie. */
import { LRUCache } from 'lru-cache'
import type { RatePlan } from '#domain/app/rates'
import { hashApiKey, isApiKey } from '#kernel/api-key'
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { type Access, scopes } from '#kernel/scopes'
import type { Tokens } from '#port/tokens'
import { findKey, type KeyGrant, keyLives, touchKeys } from '#store/app/keys'
import { findSession, type SessionGrant } from '#store/app/sessions'
import type { Db } from '#store/engine/db'
import type { Principal } from '#store/engine/principal'
import type { Cookies } from './cookies.ts'
import type { Incoming } from './incoming.ts'
import type { Origins } from './origin.ts'

/** Keys kept in memory, least recently used first out. Each statement checks again that its key lives, so none grows stale. */
const CACHED_KEYS = 10_000
const TOUCH_EVERY_MS = 10_000

export interface Caller {
  tenantId: string
  principal: Principal
  scopes: ReadonlySet<Access>
  /** Of the workspace, as it was when the credential was looked up. */
  plan: RatePlan
  /** A person's, with all that their pages show of it. */
  session?: SessionGrant
}

/** A request whose credential is looked at. */
type Arriving = Pick<Incoming, 'request' | 'checked'>

export interface Authenticator extends AsyncDisposable {
  /** Throws `unauthenticated` for whoever is not known, or not any more; `forbidden` where a browser was made to ask by a foreign page. */
  authenticate(incoming: Arriving): Promise<Caller>
  /** After a refusal that may have come before any statement looked at the key: throws `unauthenticated` for one that has died. */
  confirm(caller: Caller): Promise<void>
}

export interface AuthParts {
  db: Db
  tokens: Tokens
  cookies: Cookies
  origins: Origins
  log: Log
}

export const createAuthenticator = ({ db, tokens, cookies, origins, log }: AuthParts): Authenticator => {
  const cache = new LRUCache<string, KeyGrant>({ max: CACHED_KEYS })
  const used = new Set<string>()
  const flush = async (): Promise<void> => {
    const ids = [...used]
    used.clear()
    if (ids.length > 0) await touchKeys(db, ids).catch((cause) => log.warn({ err: cause }, 'last use of keys could not be noted'))
  }
  const timer = setInterval(() => void flush(), TOUCH_EVERY_MS)
  const byKey = async (incoming: Arriving, key: string): Promise<Caller> => {
    const grant = await lookUp({ db, cache, incoming }, key)
    used.add(grant.id)
    return keyCaller(grant)
  }
  return {
    async authenticate(incoming) {
      const { request } = incoming
      const header = request.headers.get('authorization')
      const cookie = header === null ? cookies.access(request) : undefined
      if (cookie !== undefined) requireOwnPage(request, origins)
      const credential = cookie ?? bearerOf(header)
      return isApiKey(credential) ? byKey(incoming, credential) : bySession({ db, tokens, incoming }, credential)
    },
    async confirm({ principal }) {
      if (principal.kind !== 'key' || (await keyLives(db, principal))) return
      for (const [hash, cached] of cache) if (cached.id === principal.id) cache.delete(hash)
      throw new AppError('unauthenticated')
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await flush()
    },
  }
}

const bearerOf = (header: string | null): string => {
  const [, credential] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? []
  if (credential !== undefined) return credential
  throw new AppError('unauthenticated', header === null ? 'send an API key as Authorization: Bearer <key>' : '')
}

/** Browsers add cookies whoever made them ask: what changes something must come from a page of ours. */
const requireOwnPage = (request: Request, origins: Origins): void => {
  if (request.method === 'GET' || request.method === 'HEAD' || origins.isSurelyOurs(request)) return
  throw new AppError('forbidden', 'requests with cookies must come from a page of this deployment')
}

const keyCaller = ({ id, tenantId, scopes: granted, member, plan }: KeyGrant): Caller => ({
  tenantId,
  plan,
  principal: { kind: 'key', id, ...(member ? { member } : {}) },
  scopes: new Set(granted),
})

/** What a session reaches: everything that a person may. */
const PERSONS: ReadonlySet<Access> = new Set([...scopes, 'session' as const])

const bySession = async ({ db, tokens, incoming }: { db: Db; tokens: Tokens; incoming: Arriving }, token: string): Promise<Caller> => {
  const claims = await tokens.readAccess(token)
  const session = claims && (await incoming.checked(() => findSession(db, claims.sessionId)))
  if (!session || session.person.id !== claims.personId) throw new AppError('unauthenticated')
  const member = { personId: session.person.id, role: session.workspace.role }
  const principal = { kind: 'session', id: session.id, member } as const
  return { tenantId: session.workspace.id, principal, scopes: PERSONS, plan: session.plan, session }
}

interface KeyLookUp {
  db: Db
  cache: LRUCache<string, KeyGrant>
  incoming: Arriving
}

const lookUp = async ({ db, cache, incoming }: KeyLookUp, key: string): Promise<KeyGrant> => {
  const hash = hashApiKey(key)
  const name = hash.toString('base64')
  const cached = cache.get(name)
  const grant = cached ?? (await incoming.checked(() => findKey(db, hash)))
  if (!grant) throw new AppError('unauthenticated')
  // What a member's key may changes with the member: it is looked up each time.
  if (!cached && !grant.member) cache.set(name, grant)
  return grant
}
