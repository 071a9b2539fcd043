import { createHash } from 'node:crypto'
import { canonical } from '#kernel/canonical'

/**
 * SHA-256 of a call's arguments, in hex: equal arguments have equal hashes, whatever the order of
 * their fields.
 */
export const argumentsHash = (args: Record<string, unknown>): string =>
  createHash('sha256').update(canonical(args)).digest('hex')

/**
 * SHA-256 of what a model is told about a tool. A rule that lets a tool write outside holds only
 * for this definition.
 */
export const definitionHash = ({
  name,
  description,
  parameters,
}: {
  name: string
  description: string
  parameters: unknown
}): string => argumentsHash({ name, description, parameters })
