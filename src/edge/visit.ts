import type { Log } from '#kernel/log'
import type { Visit } from '#ops/call'

/** Of how many proxies before this server it is known that they say truly who asked them. */
export interface Trust {
  proxies: number
}

/** The address of who asks. What a request says of itself counts only as far as trusted proxies have written it. */
export const clientAddressOf = (request: Request, peer: string | undefined, { proxies }: Trust): string => {
  const forwarded = (request.headers.get('x-forwarded-for') ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  return (proxies > 0 ? forwarded.at(-proxies) : undefined) ?? peer ?? 'unknown'
}

const WARNING =
  'a request brings X-Forwarded-For, and TRUSTED_PROXIES is 0: everybody behind that proxy counts as one address, so one of them can use up the tries at passwords and the rates of all. Set TRUSTED_PROXIES to the number of proxies in front of this server'

/** Warns once, at the first request that brings an address which is not believed. */
export const proxyWarning = ({ proxies }: Trust, log: Log): ((request: Request) => void) => {
  let isSettled = proxies > 0
  return (request) => {
    if (isSettled || !request.headers.has('x-forwarded-for')) return
    isSettled = true
    log.warn(WARNING)
  }
}

/** The surface that a request claims; recorded in the audit, and not verified. */
export const surfaceOf = (request: Request): Visit['surface'] => (request.headers.get('x-tendril-surface') === 'cli' ? 'cli' : 'rest')
