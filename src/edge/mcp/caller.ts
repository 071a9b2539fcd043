/**
 * The caller of an MCP request. Access is checked for each request, so that a revoked key or a lost
 * role takes effect in the middle of a session.
 */
import { BODY_LIMIT } from '#contract/kinds'
import { fail } from '#kernel/errors'
import type { Access, Scope } from '#kernel/scopes'
import type { Call } from '#ops/engine/call'
import { findKeys, type KeyGrant, scopesNow } from '#store/app/keys'
import { findSession } from '#store/app/sessions'
import type { Db } from '#store/engine/db'
import { roleOf } from '#store/engine/principal'
import type { Authenticator, AuthenticatedCaller as Known } from '../auth.ts'
import type { Incoming } from '../incoming.ts'

interface Parts {
  authenticator: Authenticator
  db: Db
}

export type McpCaller = Pick<Call, 'tenantId' | 'principal' | 'scopes' | 'plan'>

/**
 * `mcp:use` includes reading, because the API document requires no other scope for read-only tools.
 */
const withMcpAccess = (caller: McpCaller): McpCaller | undefined =>
  caller.scopes.has('mcp:use')
    ? { ...caller, scopes: new Set<Access>([...caller.scopes, 'api:read']) }
    : undefined

/** The caller as the authenticator knows it. Reserves room for the body. */
export const knownCallerOf = async (
  { authenticator }: Pick<Parts, 'authenticator'>,
  incoming: Incoming,
): Promise<Known> => {
  const known = await authenticator.authenticate(incoming)
  // Must come before any other wait, because Bun reads ahead.
  await incoming.makeRoom({ limit: BODY_LIMIT, workspace: known.tenantId })
  return known
}

/** The authenticator caches the scopes of these keys only. */
const isCached = ({ principal: { kind, member } }: Known): boolean => kind === 'key' && !member

const assumed = new WeakMap<Known, McpCaller>()

/**
 * For a read: the caller with the access that was last known. The read's statement answers only if
 * the access is still the same. Undefined without `mcp:use`.
 */
export const assumedCallerOf = (known: Known): McpCaller | undefined => {
  if (!isCached(known)) return withMcpAccess(known)
  const before = assumed.get(known)
  if (before) return before
  const scopes = [...known.scopes] as Scope[]
  const caller = withMcpAccess({ ...known, principal: { ...known.principal, scopes } })
  if (caller) assumed.set(known, caller)
  return caller
}

/**
 * Throws `unauthenticated` if the credential is no longer valid, and `missing_scope` if it lacks
 * `mcp:use`.
 */
export const currentCallerOf = async (parts: Parts, known: Known): Promise<McpCaller> => {
  const now = isCached(known) ? { ...known, scopes: await freshScopes(parts, known) } : known
  return withMcpAccess(now) ?? fail('missing_scope', 'mcp:use')
}

const freshScopes = async (
  { authenticator, db }: Parts,
  known: Known,
): Promise<ReadonlySet<Access>> => {
  try {
    const scopes = await scopesNow(db, { tenantId: known.tenantId, id: known.principal.id })
    if (scopes.join() !== [...known.scopes].join()) authenticator.forget(known)
    return new Set(scopes)
  } catch (cause) {
    // Makes the authenticator forget a key that is no longer valid.
    await authenticator.confirm(known)
    throw cause
  }
}

const withGrant = (
  { tenantId, principal: { kind, id } }: McpCaller,
  { scopes, member, plan }: KeyGrant,
): McpCaller => ({
  tenantId,
  plan,
  principal: { kind, id, ...(member ? { member } : {}) },
  scopes: new Set(scopes),
})

/**
 * Earlier callers with their current access, in the same order. Undefined for those who may no
 * longer use MCP.
 */
export const refreshCallers = async (
  db: Db,
  callers: readonly McpCaller[],
): Promise<(McpCaller | undefined)[]> => {
  const keys = callers
    .filter(({ principal }) => principal.kind === 'key')
    .map(({ principal }) => principal.id)
  const grants =
    keys.length > 0 ? await findKeys(db, [...new Set(keys)]) : new Map<string, KeyGrant>()
  const now = new Map<string, Promise<McpCaller | undefined>>()
  for (const caller of callers)
    if (!now.has(callerId(caller))) now.set(callerId(caller), currentCaller(db, caller, grants))
  return Promise.all(callers.map((caller) => now.get(callerId(caller))))
}

const currentCaller = async (
  db: Db,
  caller: McpCaller,
  grants: ReadonlyMap<string, KeyGrant>,
): Promise<McpCaller | undefined> => {
  if (caller.principal.kind === 'session') return currentPerson(db, caller)
  const grant = grants.get(caller.principal.id)
  return grant && withMcpAccess(withGrant(caller, grant))
}

const currentPerson = async (db: Db, caller: McpCaller): Promise<McpCaller | undefined> => {
  const session = await findSession(db, caller.principal.id)
  if (session?.workspace.id !== caller.tenantId) return undefined
  const member = { personId: session.person.id, role: session.workspace.role }
  return withMcpAccess({ ...caller, principal: { kind: 'session', id: session.id, member } })
}

/** Identifies the owner of a session; only the same caller can use it. */
export const callerId = ({ tenantId, principal }: McpCaller): string =>
  `${tenantId} ${principal.kind} ${principal.id}`

/** Role and scopes as one string, which changes whenever the caller's access does. */
export const accessKey = ({ scopes, principal }: McpCaller): string =>
  `${roleOf(principal)} ${[...scopes].sort().join(' ')}`
