import type { Log } from '#kernel/log'
import type { Visit } from '#ops/call'

export interface Trust {
  /** How many proxies in front of this server are trusted to write X-Forwarded-For. */
  proxies: number
}

/** The client's IP address. Believes X-Forwarded-For only as far as trusted proxies have written it. */
export const clientAddressOf = (request: Request, peer: string | undefined, { proxies }: Trust): string => {
  const forwarded = (request.headers.get('x-forwarded-for') ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  return (proxies > 0 ? forwarded.at(-proxies) : undefined) ?? peer ?? 'unknown'
}

const WARNING =
  'a request has X-Forwarded-For, but TRUSTED_PROXIES is 0: all clients behind that proxy count as one address, and any of them can use up the password attempts and rates of all. Set TRUSTED_PROXIES to the number of proxies in front of this server'

/** Warns once, at the first request with an X-Forwarded-For that is not trusted. */
export const proxyWarning = ({ proxies }: Trust, log: Log): ((request: Request) => void) => {
  let isSettled = proxies > 0
  return (request) => {
    if (isSettled || !request.headers.has('x-forwarded-for')) return
    isSettled = true
    log.warn(WARNING)
  }
}

/** The surface that a request claims. The audit trail records it unverified. */
export const surfaceOf = (request: Request): Visit['surface'] => (request.headers.get('x-tendril-surface') === 'cli' ? 'cli' : 'rest')
