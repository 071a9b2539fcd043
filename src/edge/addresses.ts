/** What is asked without a valid credential is counted by the address that it comes from. */
import { networkOf } from '#domain/app/network-of'
import { Buckets, type Rate } from '#kernel/buckets'
import type { Clock } from '#kernel/clock'
import { fail } from '#kernel/errors'

const ANONYMOUS: Rate = { perSecond: 100, burst: 1_000 }
/** Of addresses that have asked lately; each takes about 200 bytes. */
const MOST_ADDRESSES = 100_000

export interface Addresses {
  /** Counts one request; throws `rate_limited:address` when it was one too many. */
  count(address: string): void
}

export const unlimitedAddresses: Addresses = { count: () => {} }

export const createAddresses = ({ monotonic }: Pick<Clock, 'monotonic'>): Addresses => {
  const buckets = new Buckets(monotonic, MOST_ADDRESSES)
  return {
    count(address) {
      const name = networkOf(address)
      const wait = buckets.wait(name, ANONYMOUS)
      if (wait > 0) fail('rate_limited', 'address', { retryAfter: wait })
      buckets.take(name, ANONYMOUS)
    },
  }
}
