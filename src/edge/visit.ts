import type { Visit } from '#ops/call'

/** Of how many proxies before this server it is known that they say truly who asked them. */
export interface Trust {
  proxies: number
}

/** The address of who asks. What a request says of itself counts only as far as trusted proxies have written it. */
export const addressOf = (request: Request, peer: string | undefined, { proxies }: Trust): string => {
  const told = (request.headers.get('x-forwarded-for') ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  return (proxies > 0 ? told.at(-proxies) : undefined) ?? peer ?? 'unknown'
}

/** How a request says that it came; told in the audit, and no more than told. */
export const surfaceOf = (request: Request): Visit['surface'] => (request.headers.get('x-tendril-surface') === 'cli' ? 'cli' : 'rest')
