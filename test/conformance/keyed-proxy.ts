/** Forwards requests unchanged except for an added key, as the conformance suites send none. */
import { createServer, type IncomingHttpHeaders, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface KeyedProxy extends AsyncDisposable {
  url: string
}

/** Replaces the proxy's own name by the target's; every other Host and Origin stays as it is. */
const passedHeaders = (
  headers: IncomingHttpHeaders,
  { from, to }: { from: string; to: string },
): IncomingHttpHeaders => ({
  ...headers,
  ...(headers.host === from ? { host: to } : {}),
  ...(headers.origin === `http://${from}` ? { origin: `http://${to}` } : {}),
})

/** Listens on a free port of this machine. */
export const startKeyedProxy = async (target: string, key: string): Promise<KeyedProxy> => {
  const { hostname, port, host } = new URL(target)
  const server = createServer((incoming, outgoing) => {
    const { method, url: path } = incoming
    const own = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const headers = passedHeaders(incoming.headers, { from: own, to: host })
    const passed = send(
      { hostname, port, method, path, headers: { ...headers, authorization: `Bearer ${key}` } },
      (reply) => {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
        outgoing.flushHeaders()
        reply.pipe(outgoing)
      },
    )
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
