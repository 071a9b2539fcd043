/** Who may call which operation, by scope and role. */
import { type NamedOp, requiredAccess } from '#contract/op'
import { fail } from '#kernel/errors'
import type { Role } from '#kernel/roles'
import { roleOf } from '#store/engine/principal'
import type { Call } from './call.ts'

/** Throws `forbidden`, for operations that require a person. */
export const refuseKey = (): never =>
  fail('forbidden', 'this requires a signed-in person; API keys cannot do it')

/** What an operation takes of its caller. */
export type Permitted = Pick<NamedOp, 'scope' | 'also' | 'roles'>

/** Whether the caller's scopes and role allow the operation. */
export const mayRun = (
  o: Permitted,
  { scopes, principal }: Pick<Call, 'scopes' | 'principal'>,
): boolean => {
  const role = roleOf(principal)
  return (
    requiredAccess(o).every((scope) => scopes.has(scope)) &&
    (role === 'owner' || o.roles.includes(role))
  )
}

/** The roles that can run it, owners first. */
export const rolesOf = ({ roles }: Pick<Permitted, 'roles'>): Role[] => ['owner', ...roles]

export const requireAccess = (o: NamedOp, { scopes, principal }: Call): void => {
  if (mayRun(o, { scopes, principal })) return
  const lacking = requiredAccess(o).find((scope) => !scopes.has(scope))
  if (lacking === 'session') refuseKey()
  if (lacking !== undefined) fail('missing_scope', lacking)
  const role = roleOf(principal)
  fail('forbidden', `the role ${role} cannot do this; it requires ${rolesOf(o).join(' or ')}`)
}
