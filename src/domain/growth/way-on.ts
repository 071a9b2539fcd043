/** The call to make next, which a refusal names for programs. */
import type { ConflictReason } from '#kernel/conflict'
import { type ErrorDetail, fail } from '#kernel/errors'

/**
 * The path of the detail that holds the call: the operation's id and, if it is about one record, a
 * space and the record's id.
 */
export const NEXT = 'next'

export const nextCall = (operation: string, id?: string): ErrorDetail => ({
  path: NEXT,
  message: id === undefined ? operation : `${operation} ${id}`,
})

/**
 * Throws `conflict`. `operation`: what shows or changes that which stands in the way, and the
 * record's id if it is about one.
 */
export const refuseNaming = (
  reason: ConflictReason,
  message: string,
  operation: string,
  id?: string,
): never => fail('conflict', message, { reason, details: [nextCall(operation, id)] })
