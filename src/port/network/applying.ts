import type { NetworkLimits } from './network.ts'

/**
 * How long a request answered with `server_error` may take to settle; undefined unless the network
 * promises all that this needs.
 */
export const appliesWithin = ({
  maxApplyMs,
  completeReadBack,
}: Pick<NetworkLimits, 'maxApplyMs' | 'completeReadBack'>): number | undefined =>
  completeReadBack && maxApplyMs !== null ? maxApplyMs : undefined
