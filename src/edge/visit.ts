import { BlockList, isIP } from 'node:net'
import { withoutPort } from '#domain/app/network-of'
import type { Log } from '#kernel/log'
import type { Visit } from '#ops/engine/call'

export interface ProxyTrust {
  /** Whether the other end of a connection is a trusted proxy. */
  isProxy(address: string): boolean
}

/** `named`: addresses, and networks such as 10.0.0.0/8. */
export const trustIn = (named: readonly string[]): ProxyTrust => {
  const list = new BlockList()
  for (const one of named) {
    const [address, bits] = one.split('/') as [string, string?]
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return {
    isProxy(address) {
      const plain = withoutPort(address).replace(/^::ffff:(?=\d+\.)/i, '')
      const family = isIP(plain)
      return family !== 0 && list.check(plain, family === 4 ? 'ipv4' : 'ipv6')
    },
  }
}

/**
 * The client's IP address. Believes X-Forwarded-For only if it comes from a named proxy, and only
 * the part that such proxies wrote.
 */
export const clientAddressOf = (
  request: Request,
  peer: string | undefined,
  { isProxy }: ProxyTrust,
): string => {
  if (peer === undefined || !isProxy(peer)) return peer ?? 'unknown'
  const forwarded = (request.headers.get('x-forwarded-for') ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  return forwarded.findLast((address) => !isProxy(address)) ?? forwarded[0] ?? peer
}

const WARNING =
  'a request has X-Forwarded-For, but TRUSTED_PROXIES does not name its sender: all clients behind that proxy count as one address, and any of them can use up the password attempts and rates of all. Set TRUSTED_PROXIES to the addresses of the proxies in front of this server'

/** Warns once, at the first request with an X-Forwarded-For that is not trusted. */
export const proxyWarning = (
  { isProxy }: ProxyTrust,
  log: Log,
): ((request: Request, peer: string | undefined) => void) => {
  let isSettled = false
  return (request, peer) => {
    if (
      isSettled ||
      !request.headers.has('x-forwarded-for') ||
      (peer !== undefined && isProxy(peer))
    )
      return
    isSettled = true
    log.warn({ peer }, WARNING)
  }
}

/** The surface that a request claims. The audit trail records it unverified. */
export const surfaceOf = (request: Request): Visit['surface'] =>
  request.headers.get('x-tendril-surface') === 'cli' ? 'cli' : 'rest'
