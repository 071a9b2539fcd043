/** The product's part in the gate of every letter. */
import { fail } from '#kernel/errors'
import type { GateHook } from '#store/engine/letter'
import { gateFacts, gateQuery } from '#store/growth/gate'

export const gateHook: GateHook = {
  query: gateQuery,
  read: gateFacts,
  admit({ deletesAt }) {
    if (deletesAt)
      fail(
        'conflict',
        `the workspace is scheduled for deletion at ${deletesAt.toISOString()}; an owner can cancel the deletion with DELETE /api/v1/app/workspace/deletion`,
        { reason: 'deletion_scheduled' },
      )
  },
}
