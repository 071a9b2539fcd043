/** Which web pages may make a browser act here: our own, and nobody else's. */

export interface Origins {
  /** Whether a request was made by one of our own pages, or by no page at all. */
  isOurs(request: Request): boolean
  /** Whether it was surely made by one of our own pages: for what a browser adds cookies to by itself. */
  isSurelyOurs(request: Request): boolean
}

const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]']

/** The deployment's public address, and on the machine itself the port it listens on. `port`: asked for each time, because it may be chosen late. */
export const createOrigins = (publicUrl: string, port: () => number): Origins => {
  const own = new URL(publicUrl).origin
  const isOwn = (origin: string): boolean => origin === own || LOCAL_NAMES.some((name) => origin === `http://${name}:${port()}`)
  return {
    isOurs(request) {
      const origin = request.headers.get('origin')
      return origin === null || isOwn(origin)
    },
    isSurelyOurs(request) {
      const origin = request.headers.get('origin')
      return origin === null ? request.headers.get('sec-fetch-site') === 'same-origin' : isOwn(origin)
    },
  }
}
