/** Who sends an MCP request, asked anew for each: what was taken from somebody in the middle of a session is gone at once. */
import { BODY_LIMIT } from '#contract/kinds'
import { fail } from '#kernel/errors'
import type { Access } from '#kernel/scopes'
import type { Call } from '#ops/call'
import { findKeys, type KeyGrant, scopesNow } from '#store/app/keys'
import { findSession } from '#store/app/sessions'
import type { Db } from '#store/engine/db'
import { roleOf } from '#store/engine/principal'
import type { Authenticator, Caller as Known } from '../auth.ts'
import type { Incoming } from '../incoming.ts'

interface Parts {
  authenticator: Authenticator
  db: Db
}

export type McpCaller = Pick<Call, 'tenantId' | 'principal' | 'scopes' | 'plan'>

/** Whoever may use MCP may read over it: the API document asks nothing more of the tools that only read. */
const overMcp = (caller: McpCaller): McpCaller | undefined =>
  caller.scopes.has('mcp:use') ? { ...caller, scopes: new Set<Access>([...caller.scopes, 'api:read']) } : undefined

/** Throws `unauthenticated` for a credential that does not stand at this moment, `missing_scope` for one without `mcp:use`. */
export const callerOf = async ({ authenticator, db }: Parts, incoming: Incoming): Promise<McpCaller> => {
  const known = await authenticator.authenticate(incoming)
  // Before anything is waited for: Bun reads ahead.
  await incoming.makeRoom({ limit: BODY_LIMIT, workspace: known.tenantId })
  const { kind, member } = known.principal
  // Of these alone the authenticator may remember what they were some time ago.
  const now = kind === 'key' && !member ? { ...known, scopes: await freshScopes({ authenticator, db }, known) } : known
  return overMcp(now) ?? fail('missing_scope', 'mcp:use')
}

const freshScopes = async ({ authenticator, db }: Parts, known: Known): Promise<ReadonlySet<Access>> => {
  try {
    return new Set(await scopesNow(db, { tenantId: known.tenantId, id: known.principal.id }))
  } catch (cause) {
    // The authenticator forgets a key that has died.
    await authenticator.confirm(known)
    throw cause
  }
}

const asNow = ({ tenantId, principal: { kind, id } }: McpCaller, { scopes, member, plan }: KeyGrant): McpCaller => ({
  tenantId,
  plan,
  principal: { kind, id, ...(member ? { member } : {}) },
  scopes: new Set(scopes),
})

/** What callers of before may at this moment, in their order; undefined for those that may not use MCP any more. */
export const standingOf = async (db: Db, callers: readonly McpCaller[]): Promise<(McpCaller | undefined)[]> => {
  const keys = callers.filter(({ principal }) => principal.kind === 'key').map(({ principal }) => principal.id)
  const grants = keys.length > 0 ? await findKeys(db, [...new Set(keys)]) : new Map<string, KeyGrant>()
  const now = new Map<string, Promise<McpCaller | undefined>>()
  for (const caller of callers) if (!now.has(nameOf(caller))) now.set(nameOf(caller), standing(db, caller, grants))
  return Promise.all(callers.map((caller) => now.get(nameOf(caller))))
}

const standing = async (db: Db, caller: McpCaller, grants: ReadonlyMap<string, KeyGrant>): Promise<McpCaller | undefined> => {
  if (caller.principal.kind === 'session') return standingPerson(db, caller)
  const grant = grants.get(caller.principal.id)
  return grant && overMcp(asNow(caller, grant))
}

const standingPerson = async (db: Db, caller: McpCaller): Promise<McpCaller | undefined> => {
  const session = await findSession(db, caller.principal.id)
  if (session?.workspace.id !== caller.tenantId) return undefined
  const member = { personId: session.person.id, role: session.workspace.role }
  return overMcp({ ...caller, principal: { kind: 'session', id: session.id, member } })
}

/** Whose session it is: nobody else may use it. */
export const nameOf = ({ tenantId, principal }: McpCaller): string => `${tenantId} ${principal.kind} ${principal.id}`

/** Compared to tell whether what a caller may do has changed. */
export const accessOf = ({ scopes, principal }: McpCaller): string => `${roleOf(principal)} ${[...scopes].sort().join(' ')}`
