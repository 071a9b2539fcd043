import type { Author } from '#domain/growth/drafting/revision'
import { auditActor } from '#store/engine/principal'
import type { CommandContext } from '../../engine/call.ts'

/** The caller as records name the author of a text or a decision, the same as in the audit. */
export const authorOf = ({ principal, job }: Pick<CommandContext, 'principal' | 'job'>): Author => {
  if (job) return { kind: 'agent', id: job.id }
  const { kind, id } = auditActor(principal)
  return { kind: kind === 'person' || kind === 'key' ? kind : 'system', id }
}
