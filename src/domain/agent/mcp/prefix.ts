/**
 * The prefix of the names of an MCP server's tools. It keeps two servers of a workspace from having
 * tools of the same name.
 */
import { fail } from '#kernel/errors'
import { foreignToolLimits, prefixesCollide, prefixOf } from './foreign-tools.ts'

/** Throws `invalid_input`. `others`: the prefixes of the other servers. */
export const requireFreePrefix = (prefix: string, others: readonly string[]): void => {
  const other = others.find((one) => prefixesCollide(prefix, one))
  if (other === undefined) return
  const message = `collides with ${other}, the prefix of another server; take another`
  fail('invalid_input', `toolPrefix ${message}`, { details: [{ path: 'toolPrefix', message }] })
}

/** Room for a number at the end. */
const DIGITS = 3

/** Makes a free prefix from a server's name. */
export const freePrefix = (name: string, others: readonly string[]): string => {
  const stem = prefixOf(name)
  for (let number = 1; ; number++) {
    const prefix =
      number === 1 ? stem : `${stem.slice(0, foreignToolLimits.prefixLength - DIGITS)}${number}`
    if (!others.some((one) => prefixesCollide(prefix, one))) return prefix
  }
}
