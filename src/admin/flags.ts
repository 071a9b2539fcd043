/** The flags of `tendril admin`. */
import { Value } from '@sinclair/typebox/value'
import type { Config } from '#config/config'
import { Email } from '#contract/app/session'
import { fail } from '#kernel/errors'
import { isUuid } from '#kernel/ids'
import type { Log } from '#kernel/log'
import { strangeCharacter } from '#kernel/plain-text'

/** A flag that can be given several times is a list. */
export type Flags = Record<string, string | boolean | string[] | undefined>

/** The value of a required flag. */
export const text = (flags: Flags, name: string): string => {
  const value = flags[name]
  return typeof value === 'string' && value !== ''
    ? value
    : fail('invalid_input', `--${name} is missing`)
}

/** The value of a required flag that is an id, in the form that the database returns. */
export const uuid = (flags: Flags, name: string): string => {
  const value = text(flags, name)
  const id = value.toLowerCase()
  return isUuid(id) ? id : fail('invalid_input', `--${name} is not an id: ${value}`)
}

/** Of a command that was given the id of one. */
export const noSuchWorkspace = (id: string): never => fail('not_found', `no such workspace: ${id}`)

export const optionalUuid = (flags: Flags, name: string): string | undefined =>
  flags[name] === undefined ? undefined : uuid(flags, name)

/** The value of a required flag that is an email address. */
export const email = (flags: Flags): string => {
  const value = text(flags, 'email')
  const strange = strangeCharacter(value)
  if (strange)
    fail(
      'invalid_input',
      `--email contains ${strange}, an invisible character or one that reorders text`,
    )
  return Value.Check(Email, value)
    ? value
    : fail('invalid_input', `--email is not an email address: ${value}`)
}

export const optionalEmail = (flags: Flags): string | undefined =>
  flags.email === undefined ? undefined : email(flags)

/** A value that must be one of the given words. */
export const choice = <V extends string>(flags: Flags, name: string, values: readonly V[]): V => {
  const value = text(flags, name)
  return (
    values.find((one) => one === value) ??
    fail('invalid_input', `--${name} must be one of ${values.join(', ')}`)
  )
}

const MAX_LISTED = 100

/** The page that `--limit` and `--cursor` ask for. */
export const pageFlags = (flags: Flags): { limit?: number; cursor?: string } => {
  const limit = flags.limit === undefined ? undefined : Number(text(flags, 'limit'))
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= MAX_LISTED))
    fail('invalid_input', `--limit must be a whole number from 1 to ${MAX_LISTED}: ${flags.limit}`)
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(flags.cursor === undefined ? {} : { cursor: text(flags, 'cursor') }),
  }
}

/** All values of a flag that can be given several times. */
export const listFlag = (flags: Flags, name: string): string[] => {
  const values = flags[name]
  return Array.isArray(values) ? values : []
}

export interface AdminContext {
  config: Config
  log: Log
  /** Prints a line on standard error. */
  err(line: string): void
}
