import type { Load, Loaded } from '#store/engine/load'
import type { Call, CommandContext, Loading } from './call.ts'

/**
 * A handler whose records are read in the statement of its letter's gate. They need no lock: every writer of a workspace's records holds
 * the row lock that the gate takes. Keys, members and invitations are also written by operations of persons, and are locked.
 */
export const loading = <I, R, L extends Load>(
  load: (input: I, call: Pick<Call, 'tenantId'>) => L,
  decide: (input: I, context: CommandContext, loaded: Loaded<L>) => R | Promise<R>,
): Loading<I, R> => ({ load, decide })
