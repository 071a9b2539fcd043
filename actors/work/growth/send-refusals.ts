/** What callers who wait are told of a record that was not sent. */
import { recordOf } from '#decisions/growth/send-work'
import { sendables } from '#decisions/growth/sendables'
import type { ReturnReason } from '#domain/growth/sending/sendable'
import { AppError } from '#kernel/errors'
import type { Work } from '#store/engine/work'

const refusals = {
  restored: {
    reason: 'restored',
    text: 'it may have gone out elsewhere since the backup; decide on it first',
  },
  missed: {
    reason: 'too_late',
    text: 'the request could not be completed in time; try again',
  },
  workspace_deletion: {
    reason: 'deletion_scheduled',
    text: 'the workspace is scheduled for deletion',
  },
  same_text_unconfirmed: {
    reason: 'in_doubt',
    text: 'another item with the same text is unconfirmed on this account; settle that one first',
  },
} as const

/** Why it was not sent, for callers that wait. */
export const unsentRefusal = (
  work: Work,
  reason: Exclude<ReturnReason, 'x_not_connected'>,
): AppError => {
  const { moves, verb } = sendables[recordOf(work).sendable]
  const [code, detail = ''] = reason.split(':')
  if (code === 'plan_invalid') return new AppError(code, detail)
  const why =
    reason === 'approval_stale'
      ? {
          reason: 'stale_approval' as const,
          text: `the ${moves.noun} has changed since its approval; approve it again`,
        }
      : refusals[reason as keyof typeof refusals]
  return new AppError('conflict', `cannot ${verb}: ${why.text}`, { reason: why.reason })
}
