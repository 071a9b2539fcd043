/** Decides whether a request comes from our own web pages. */

export interface Origins {
  /** True if one of our pages, or no page at all, sent the request. */
  isOurs(request: Request): boolean
  /** True only if one of our pages is known to have sent it. For requests that carry cookies. */
  isSurelyOurs(request: Request): boolean
  /** The origins of our pages: of the public URL, and of this machine's names. */
  accepted(): string[]
}

const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]']

/**
 * Accepts the public URL, and localhost at the port that the server listens on. `port` is called
 * each time, because the port may be chosen late.
 */
export const createOrigins = (publicUrl: string, port: () => number): Origins => {
  const own = new URL(publicUrl).origin
  const accepted = (): string[] => [own, ...LOCAL_NAMES.map((name) => `http://${name}:${port()}`)]
  const isOwn = (origin: string): boolean => accepted().includes(origin)
  return {
    accepted,
    isOurs(request) {
      const origin = request.headers.get('origin')
      return origin === null || isOwn(origin)
    },
    isSurelyOurs(request) {
      const origin = request.headers.get('origin')
      return origin === null
        ? request.headers.get('sec-fetch-site') === 'same-origin'
        : isOwn(origin)
    },
  }
}
