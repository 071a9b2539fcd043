import type { Author } from '#domain/growth/drafting/revision'
import type { Sendable } from '#domain/growth/sending/sendable'
import { fail } from '#kernel/errors'
import { auditActor } from '#store/engine/principal'
import type { CommandContext } from '../../engine/call.ts'

type Acting = Pick<CommandContext, 'principal' | 'job'>

/** The caller as records name the author of a text or a decision, the same as in the audit. */
export const authorOf = ({ principal, job }: Acting): Author => {
  if (job) return { kind: 'agent', id: job.id }
  const { kind, id } = auditActor(principal)
  return { kind: kind === 'person' || kind === 'key' ? kind : 'system', id }
}

/** Who decides, and the person who allowed the call if the caller is an agent that had to ask. */
export const deciderOf = (context: Acting & Pick<CommandContext, 'gate'>) => {
  const { job, gate } = context
  const allowed_by = job?.allowedBy ? ({ kind: 'person', id: job.allowedBy } as const) : undefined
  return { by: authorOf(context), allowed_by, now: gate.now }
}

/** Only people say what became of a record that may have gone out elsewhere. */
export const requirePersonFor = (
  { job }: Pick<Acting, 'job'>,
  { restored_as_of: asOf }: Pick<Sendable, 'restored_as_of'>,
): void => {
  if (job && asOf)
    fail(
      'conflict',
      `it may have gone out elsewhere since ${asOf.toISOString()}; a person must decide on it`,
      { reason: 'restored' },
    )
}
