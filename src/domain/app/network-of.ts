/** The longest key, in characters: a proxy may send anything instead of an address. */
const LONGEST = 64
/** Some proxies append the port of the connection, which changes every time. */
const V4_WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$/
const BRACKETED = /^\[([^\]]*)\](:\d+)?$/

/**
 * The key by which requests without a credential are counted: an IPv4 address, or the /64 of an
 * IPv6 address, since one subscriber has all of its 2^64 addresses (RFC 6177). Ports are dropped.
 * Anything else counts as written.
 */
export const networkOf = (address: string): string => {
  const plain = withoutPort(address)
  const groups = groupsOf(plain)
  if (!groups) return plain.slice(0, LONGEST)
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff)
    return formatIpv4(groups[6]!, groups[7]!)
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** An address without port, brackets and zone. */
export const withoutPort = (address: string): string =>
  address.replace(V4_WITH_PORT, '$1').replace(BRACKETED, '$1').replace(/%.*$/s, '')

const formatIpv4 = (high: number, low: number): string =>
  [high >> 8, high & 255, low >> 8, low & 255].join('.')

const IPV4_END = /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/

/** The eight groups of an IPv6 address, or undefined if `text` is none. */
const groupsOf = (text: string): number[] | undefined => {
  if (!text.includes(':')) return undefined
  const plain = text.replace(
    IPV4_END,
    (_, a, b, c, d) => `${((+a << 8) | +b).toString(16)}:${((+c << 8) | +d).toString(16)}`,
  )
  const [head, tail, ...more] = plain
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':')))
  if (!head || more.length > 0) return undefined
  const missing = 8 - head.length - (tail?.length ?? 0)
  if (tail ? missing < 1 : missing !== 0) return undefined
  const groups = [
    ...head,
    ...Array.from({ length: tail ? missing : 0 }, () => '0'),
    ...(tail ?? []),
  ]
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : undefined
}
