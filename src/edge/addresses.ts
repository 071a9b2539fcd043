/** Rate limits, by address, for requests without a valid credential. */
import { networkOf } from '#domain/app/network-of'
import { Buckets, type Rate } from '#kernel/buckets'
import type { Clock } from '#kernel/clock'
import { fail } from '#kernel/errors'

const ANONYMOUS: Rate = { perSecond: 100, burst: 1_000 }
/** How many addresses are remembered. Each takes about 200 bytes. */
const MAX_ADDRESSES = 100_000

export interface Addresses {
  /** Counts one request. Throws `rate_limited:address` over the rate. */
  count(address: string): void
}

export const unlimitedAddresses: Addresses = { count: () => {} }

export const createAddresses = ({ monotonic }: Pick<Clock, 'monotonic'>): Addresses => {
  const buckets = new Buckets(monotonic, MAX_ADDRESSES)
  return {
    count(address) {
      const name = networkOf(address)
      const wait = buckets.wait(name, ANONYMOUS)
      if (wait > 0) fail('rate_limited', 'address', { retryAfter: wait })
      buckets.take(name, ANONYMOUS)
    },
  }
}
