/** What is asked without a valid credential is counted by the address that it comes from. */
import { isIPv6 } from 'node:net'
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
      const name = siteOf(address)
      const wait = buckets.wait(name, ANONYMOUS)
      if (wait > 0) fail('rate_limited', 'address', { retryAfter: wait })
      buckets.take(name, ANONYMOUS)
    },
  }
}

/** Whatever a proxy has written in the place of an address is a name of no more characters. */
const LONGEST = 64
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
const V4_WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$/
const GROUPS = 8
const SITE_GROUPS = 4

/** An IPv4 address, or the /64 of an IPv6 address: one subscriber has all of it. */
export const siteOf = (address: string): string => {
  const plain = address.replace(/^\[([^\]]*)\](:\d+)?$/, '$1').replace(/%.*$/s, '')
  const v4 = (MAPPED.exec(plain) ?? V4_WITH_PORT.exec(plain))?.[1]
  if (v4 !== undefined) return v4
  if (!isIPv6(plain)) return plain.slice(0, LONGEST)
  const [left = [], right = []] = plain.split('::').map(groupsOf)
  const zeros = Array.from({ length: Math.max(0, GROUPS - left.length - right.length) }, () => '0')
  const groups = plain.includes('::') ? [...left, ...zeros, ...right] : left
  return groups
    .slice(0, SITE_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

/** A dotted end stands for two groups, which are not among the first four. */
const groupsOf = (part: string): string[] =>
  part.split(':').flatMap((group) => {
    if (group === '') return []
    return group.includes('.') ? ['0', '0'] : [group]
  })
