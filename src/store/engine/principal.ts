import { fail } from '#kernel/errors'
import type { Role } from '#kernel/roles'
import type { Scope } from '#kernel/scopes'

/** Somebody's membership in a workspace. */
export interface Member {
  personId: string
  role: Role
}

/**
 * The caller: an API key, a person's session, a sender in a channel, or the deployment itself.
 * Every statement checks its rights again. Those of a sender are checked at each step of the job.
 */
export interface Principal {
  kind: 'key' | 'session' | 'channel' | 'system'
  id: string
  /**
   * The member who owns the session or key, or is the sender; absent for the workspace's own keys,
   * and for strangers.
   */
  member?: Member | undefined
  /** The name of the person or key, where it was read with the credential. */
  name?: string | undefined
  /**
   * For a key: statements answer only while the key still has exactly these scopes, in this order.
   */
  scopes?: readonly Scope[] | undefined
}

/** Whoever runs the deployment, by commands on its machine. */
export const operator = { kind: 'system', id: 'operator' } as const satisfies Principal

export const isOperator = ({ kind, id }: { kind: string; id: string }): boolean =>
  kind === operator.kind && id === operator.id

/** Somebody outside the workspace, who sees only what the workspace shows to anybody. */
export const isStranger = ({ kind, member }: Principal): boolean =>
  kind === 'channel' && member === undefined

/**
 * A principal's role. The workspace's own keys and the deployment act as owner, within their
 * scopes.
 */
export const roleOf = (principal: Principal): Role =>
  principal.member?.role ?? (isStranger(principal) ? 'viewer' : 'owner')

/** A caller as a participant: its role, and the person if the session or key belongs to one. */
export const partyOf = (principal: Principal): { role: Role; personId: string | null } => ({
  role: roleOf(principal),
  personId: principal.member?.personId ?? null,
})

/** Whether the caller is an owner in person, and not one of their programs. */
export const isSignedInOwner = (principal: Principal): boolean =>
  principal.kind === 'session' && roleOf(principal) === 'owner'

/** The caller's person id, for operations that only people can use. Throws `forbidden`. */
export const personOf = ({ member }: Principal): string => member?.personId ?? fail('forbidden')

/** In the audit, a session appears as its person. */
export const auditActor = ({ kind, id, member }: Principal): { kind: string; id: string } =>
  kind === 'session' && member ? { kind: 'person', id: member.personId } : { kind, id }
