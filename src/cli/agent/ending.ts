/** How a job ended, as an exit code. */
import { errorTable } from '#kernel/errors'
import { FAILED_EXIT, INTERRUPTED_EXIT } from '../failure.ts'

/** A job that waits for a person's decision has not failed, but it is not done either. */
export const WAITING_EXIT = errorTable.conflict.exit

const causes: Record<string, number> = {
  budget_exhausted: errorTable.plan_quota_exceeded.exit,
  caller_gone: errorTable.forbidden.exit,
  model_failed: errorTable.network_error.exit,
}

/**
 * The exit code of a job that is over, from its status and its error, such as
 * `budget_exhausted:agent_tokens_day`.
 */
export const exitOf = ({ status, error }: { status?: unknown; error?: unknown }): number => {
  if (status === 'completed') return 0
  if (status === 'cancelled') return INTERRUPTED_EXIT
  return causes[String(error).split(':')[0]!] ?? FAILED_EXIT
}
