/**
 * A listener on every address of this machine that must get no connection, and counts those it
 * gets.
 */
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

/** Listens on IPv6 and IPv4, or on IPv4 alone if the machine has no IPv6. */
export const openCanary = async (): Promise<Canary> => {
  let hits = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    hits++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n')
  })
  if (!(await listening(server, 0, '::')) && !(await listening(server, 0, '0.0.0.0')))
    throw new Error('no port to listen on')
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
