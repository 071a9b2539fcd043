import { fail } from '#kernel/errors'
import type { Role } from '#kernel/roles'
import type { Scope } from '#kernel/scopes'

/** Somebody's membership in a workspace. */
export interface Member {
  personId: string
  role: Role
}

/** The caller: an API key, a person's session, or the deployment itself. Every statement checks its rights again. */
export interface Principal {
  kind: 'key' | 'session' | 'system'
  id: string
  /** The member who owns the session or key; absent for the workspace's own keys. */
  member?: Member | undefined
  /** Of a key: a statement answers only while the key still has exactly these scopes, in this order. */
  scopes?: readonly Scope[] | undefined
}

/** A principal's role. The workspace's own keys and the deployment act as owner, within their scopes. */
export const roleOf = ({ member }: Principal): Role => member?.role ?? 'owner'

/** The caller's person id, for operations that only people can use. Throws `forbidden`. */
export const personOf = ({ member }: Principal): string => member?.personId ?? fail('forbidden')
