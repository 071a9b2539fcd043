/** Calls that also do what another operation does: see `includes` in kinds.ts. */

import type { Included } from './kinds.ts'
import type { CapKey, QuotaKey } from './limits.ts'
import type { Op } from './op.ts'

/** The other operation that a call includes, if its input says so. */
export const includedIn = (
  { includes }: Pick<Op, 'includes'>,
  input: unknown,
): Included | undefined =>
  includes && (input as Record<string, unknown>)[includes.field] === true ? includes.of : undefined

/** The plan limits that a call counts against. */
export const limitsOfCall = (
  o: Pick<Op, 'includes' | 'cap' | 'quota'>,
  input: unknown,
): { cap: CapKey | undefined; quota: QuotaKey | undefined } => {
  const included = includedIn(o, input)
  return { cap: o.cap ?? included?.cap, quota: o.quota ?? included?.quota }
}
