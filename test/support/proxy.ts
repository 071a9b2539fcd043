/** A door between a server and its database that a test can shut: refusing at once, or saying nothing at all. */
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { ConnectionOptions } from '#store/db'

export interface DatabaseProxy extends AsyncDisposable {
  /** Leads to the same database, through the door. */
  options: ConnectionOptions
  /** Breaks every connection and takes no new ones, as a machine that is down does. */
  refuse(): Promise<void>
  /** Leaves connections open and passes nothing on, as a lost network does. */
  stall(): void
  /** Lets everything through again; what was stalled is broken first. */
  open(): Promise<void>
}

const target = ({ host = 'localhost', port = 5432 }: ConnectionOptions) =>
  host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }

const listening = async (server: Server, port: number): Promise<number> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, '127.0.0.1', resolve)
  await promise
  return (server.address() as { port: number }).port
}

export async function startProxy(options: ConnectionOptions): Promise<DatabaseProxy> {
  const sockets = new Set<Socket>()
  let stalled = false
  const track = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }
  const pass = (from: Socket, to: Socket): void => {
    from.on('data', (bytes) => void (stalled || to.write(bytes)))
    from.on('close', () => to.destroy())
  }
  const accept = (client: Socket): void => {
    const upstream = connect(target(options))
    for (const socket of [client, upstream]) track(socket)
    pass(client, upstream)
    pass(upstream, client)
  }
  let server = createServer(accept)
  const port = await listening(server, 0)
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const close = async (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    server.close(() => resolve())
    cut()
    await promise
  }
  return {
    options: { ...options, host: '127.0.0.1', port },
    refuse: close,
    stall: () => {
      stalled = true
    },
    async open() {
      if (stalled) cut()
      stalled = false
      if (server.listening) return
      server = createServer(accept)
      await listening(server, port)
    },
    [Symbol.asyncDispose]: close,
  }
}
