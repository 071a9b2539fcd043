/** Reads of networks beside the mailbox. */
import type { LaneContext } from '#actors/engine/lane'
import { NetworkError } from '#port/network/network'

/**
 * Asks a network, for at most `withinMs`. `failed` says what becomes of a network that did not
 * answer as it should; anything else that goes wrong is thrown. `stopped`: the process is ending.
 */
export const readNetwork = async <R, F>(
  context: Pick<LaneContext, 'signal'>,
  withinMs: number,
  { ask, failed }: { ask(signal: AbortSignal): Promise<R>; failed(cause: NetworkError): F },
): Promise<R | F | { kind: 'stopped' }> => {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(withinMs)])
  try {
    return await ask(signal)
  } catch (cause) {
    if (context.signal.aborted) return { kind: 'stopped' }
    if (!(cause instanceof NetworkError)) throw cause
    return failed(cause)
  }
}
