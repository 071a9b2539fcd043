/** What to do instead of what a record's state does not allow: in words for people, and as the call for programs. */
import { fail } from '#kernel/errors'

export interface WayOn {
  /** The end of a sentence that names the state. */
  words: string
  /** The operation to call, with the record's id. */
  operation: string
}

/** The path of the detail that holds the call: the operation's id, a space and the record's id. */
export const NEXT = 'next'

/** Throws `conflict`. */
export const refuseWithWay = (message: string, { words, operation }: WayOn, id: string): never =>
  fail('conflict', `${message}; ${words}`, { details: [{ path: NEXT, message: `${operation} ${id}` }] })
