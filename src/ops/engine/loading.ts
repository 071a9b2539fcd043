import { type Warned, warningLoad } from '#decisions/growth/item-warnings'
import type { Load, Loaded } from '#store/engine/load'
import type { Call, CommandContext, Loading } from './call.ts'

/**
 * A handler whose records are read in the statement of its letter's gate. They need no lock: every
 * writer of a workspace's records holds the row lock that the gate takes.
 *
 * Two writers hold it outside of letters, account deletion and the sweep of expired rows, and a
 * gate that had to wait for them sees records from before the wait. So what they delete is read
 * after the gate: the number of owners, and events to replay. Persons also write keys and
 * invitations without that lock: one that is to change is locked itself.
 *
 * `warns`: what its answer warns about.
 */
export const loading = <I, R, L extends Load>(
  load: (input: I, call: Pick<Call, 'tenantId' | 'principal'>) => L,
  decide: (input: I, context: CommandContext, loaded: Loaded<L>) => R | Promise<R>,
  warns?: (input: I) => Warned,
): Loading<I, R> => ({
  load: (input, call) => ({ ...load(input, call), ...(warns && warningLoad(warns(input))) }),
  decide,
  warns,
})
