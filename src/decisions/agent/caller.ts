import type { OnBehalf } from '#domain/agent/job/job'
import { fail } from '#kernel/errors'
import { type Scope, scopes } from '#kernel/scopes'
import type { CallerNow } from '#store/agent/callers'
import type { Principal } from '#store/engine/principal'
import type { ToolCaller } from './toolbox.ts'

/**
 * A person who writes in a channel has not signed in, so calls that require a signed-in person are
 * asked of one.
 */
const scopesOf = ({ kind }: OnBehalf): ReadonlySet<Scope | 'session'> =>
  new Set(kind === 'channel' ? scopes : [...scopes, 'session' as const])

/** The caller of a tool, with its present rights. */
export const toolCaller = (tenantId: string, by: OnBehalf, now: CallerNow): ToolCaller => {
  const { kind, id, personId } = by
  const member =
    personId !== null && now.role !== null ? { member: { personId, role: now.role } } : {}
  return {
    tenantId,
    principal: { kind, id, ...member },
    scopes: now.scopes ? new Set(now.scopes) : scopesOf(by),
  }
}

/** In whose name a job runs. Throws `forbidden` for the deployment itself. */
export const onBehalfOf = ({ kind, id, member }: Principal): OnBehalf =>
  kind === 'system'
    ? fail('forbidden', 'the deployment itself asks nothing of the agent')
    : { kind, id, personId: member?.personId ?? null }
