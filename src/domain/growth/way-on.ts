/**
 * What to do instead of what a record's state does not allow: in words for people, and as the call
 * for programs.
 */
import { type ErrorDetail, fail } from '#kernel/errors'

export interface WayOn {
  /** The end of a sentence that names the state. */
  words: string
  /** The operation to call, with the record's id. */
  operation: string
}

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
export const refuseNaming = (message: string, operation: string, id?: string): never =>
  fail('conflict', message, { details: [nextCall(operation, id)] })

/** Throws `conflict`. */
export const refuseWithWay = (message: string, { words, operation }: WayOn, id: string): never =>
  fail('conflict', `${message}; ${words}`, { details: [nextCall(operation, id)] })
