import { fail } from '#kernel/errors'
import type { Role } from '#kernel/roles'

/** Somebody's place in a workspace. */
export interface Member {
  personId: string
  role: Role
}

/** Who asks: an API key, a person's session, or the deployment itself. What it may is checked again in every statement. */
export interface Principal {
  kind: 'key' | 'session' | 'system'
  id: string
  /** Whose session it is, or whose key; a key without is the workspace's own. */
  member?: Member | undefined
}

/** What a principal may in its workspace; keys that are nobody's, and the deployment, may everything that their scopes say. */
export const roleOf = ({ member }: Principal): Role => member?.role ?? 'owner'

/** Who asks, where only people do. */
export const personOf = ({ member }: Principal): string => member?.personId ?? fail('forbidden')
