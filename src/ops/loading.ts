import type { Load, Loaded } from '#store/engine/load'
import type { Call, CommandContext, Loading } from './call.ts'

/**
 * A handler whose records are read in the statement of its letter's gate. They need no lock: every writer of a workspace's records holds
 * the row lock that the gate takes.
 *
 * Persons write members, keys and invitations outside of letters. How many owners there are is read after the gate, since deleting an
 * account holds that lock too, and a gate that waits for it shows what was before. A key or an invitation that is to change is locked.
 */
export const loading = <I, R, L extends Load>(
  load: (input: I, call: Pick<Call, 'tenantId' | 'principal'>) => L,
  decide: (input: I, context: CommandContext, loaded: Loaded<L>) => R | Promise<R>,
): Loading<I, R> => ({ load, decide })
