/** Listeners that must hear nothing: on every address of this machine, counting who comes. */
import { createServer, type Server, type Socket } from 'node:net'

export interface Canary extends AsyncDisposable {
  port: number
  /** Connections so far. */
  hits(): number
}

const listening = (server: Server, port: number, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, host, () => resolve(true))
  })

/** On all addresses of both families, or of IPv4 alone where the machine has no IPv6. */
export const openCanary = async (): Promise<Canary> => {
  let hits = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    hits++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n')
  })
  if (!(await listening(server, 0, '::')) && !(await listening(server, 0, '0.0.0.0'))) throw new Error('no port to listen on')
  const { port } = server.address() as { port: number }
  return {
    port,
    hits: () => hits,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}
