import { createHash } from 'node:crypto'
import { canonical } from '#kernel/canonical'

/** SHA-256 of a call's arguments, in hex: equal arguments have equal hashes, whatever the order of their fields. */
export const argumentsHash = (args: Record<string, unknown>): string => createHash('sha256').update(canonical(args)).digest('hex')
