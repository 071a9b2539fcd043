/** Passes requests on as they came, with a key added: the conformance suites send none. */
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface KeyedProxy extends AsyncDisposable {
  url: string
}

/** Listens on a free port of this machine. The Host stays as it was asked for. */
export const startKeyedProxy = async (target: string, key: string): Promise<KeyedProxy> => {
  const { hostname, port } = new URL(target)
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming
    const passed = send({ hostname, port, method, path, headers: { ...headers, authorization: `Bearer ${key}` } }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      outgoing.flushHeaders()
      reply.pipe(outgoing)
    })
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
