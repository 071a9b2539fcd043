/**
 * A proxy between a server and its database that a test can shut, so that it refuses at once or
 * stays silent.
 */
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { ConnectionOptions } from '#store/engine/db'

export interface DatabaseProxy extends AsyncDisposable {
  /** The same database, through the proxy. */
  options: ConnectionOptions
  /** Breaks every connection and takes no new ones, like a machine that is down. */
  refuse(): Promise<void>
  /** Leaves connections open and passes nothing on, like a lost network. */
  stall(): void
  /**
   * Stalls once a client's next packet has passed, so its answer is lost. Resolves when that has
   * happened.
   */
  stallAfterNext(): Promise<void>
  /** Lets everything through again, after breaking stalled connections. */
  open(): Promise<void>
  /** Ends a stall like a network that was only slow: what was sent meanwhile arrives now. */
  thaw(): void
  /**
   * Ends a stall like a network that lost everything: stalled connections stay silent until closed;
   * new ones get through.
   */
  strand(): void
  /** Breaks every connection and leads new ones to another database. */
  leadTo(options: ConnectionOptions): void
}

const target = ({ host = 'localhost', port = 5432 }: ConnectionOptions) =>
  host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }

const listening = async (
  server: Server,
  { port, host }: { port: number; host: string },
): Promise<number> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, host, resolve)
  await promise
  return (server.address() as { port: number }).port
}

interface ProxyOptions {
  /** The local address to listen on; 127.0.0.1 by default. */
  host?: string | undefined
  /**
   * The `application_name` of sessions through this proxy. It distinguishes servers, which all log
   * in as the same roles.
   */
  name?: string
}

const PROTOCOL_3 = 196_608

/** The startup packet with another `application_name` added; the last one counts. */
const renamed = (packet: Buffer, name: string): Buffer => {
  if (
    packet.length < 8 ||
    packet.readInt32BE(4) !== PROTOCOL_3 ||
    !packet.includes('application_name\0tendril')
  )
    return packet
  const longer = Buffer.concat([
    packet.subarray(0, -1),
    Buffer.from(`application_name\0${name}\0\0`),
  ])
  longer.writeInt32BE(longer.length)
  return longer
}

export async function startProxy(
  options: ConnectionOptions,
  { host = '127.0.0.1', name }: ProxyOptions = {},
): Promise<DatabaseProxy> {
  const sockets = new Set<Socket>()
  let goal = options
  let stalled = false
  let stallsAfterNext: (() => void) | undefined
  /** What happened during a stall: data, closed and new connections, each in order. */
  const nothing = () => ({
    held: [] as (() => void)[],
    closes: [] as (() => void)[],
    arrivals: [] as (() => void)[],
  })
  let meanwhile = nothing()
  /**
   * Connections carry the number of stalls before them; those with a lower number than the present
   * one are stranded.
   */
  let [era, firstLive] = [0, 0]
  const endStall = () => {
    const taken = meanwhile
    stalled = false
    meanwhile = nothing()
    return taken
  }
  const track = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }
  const pass = (from: Socket, to: Socket, each = (packet: Buffer): Buffer => packet): void => {
    const born = era
    from.on('data', (packet: Buffer) => {
      const isHeld = stalled
      const bytes = each(packet)
      if (isHeld) meanwhile.held.push(() => to.write(bytes))
      else if (born >= firstLive) to.write(bytes)
    })
    from.on(
      'close',
      () => void (stalled ? meanwhile.closes.push(() => to.destroy()) : to.destroy()),
    )
  }
  const accept = (client: Socket): void => {
    track(client)
    if (stalled) meanwhile.arrivals.push(() => client.destroyed || lead(client))
    else lead(client)
  }
  const lead = (client: Socket): void => {
    const upstream = connect(target(goal))
    track(upstream)
    let isFirst = true
    pass(client, upstream, (packet) => {
      stalled ||= stallsAfterNext !== undefined
      stallsAfterNext?.()
      stallsAfterNext = undefined
      const bytes = isFirst && name !== undefined ? renamed(packet, name) : packet
      isFirst = false
      return bytes
    })
    pass(upstream, client)
  }
  let server = createServer(accept)
  const port = await listening(server, { port: 0, host })
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
    options: { ...options, host, port },
    refuse: close,
    stall: () => {
      stalled = true
    },
    stallAfterNext() {
      const { promise, resolve } = Promise.withResolvers<void>()
      stallsAfterNext = resolve
      return promise
    },
    async open() {
      if (stalled) cut()
      endStall()
      if (server.listening) return
      server = createServer(accept)
      await listening(server, { port, host })
    },
    thaw() {
      const { arrivals, held, closes } = endStall()
      for (const late of [...arrivals, ...held, ...closes]) late()
    },
    strand() {
      const { arrivals, closes } = endStall()
      firstLive = ++era
      // TCP repeats a first packet every second, so connections begun meanwhile arrive now.
      for (const late of [...closes, ...arrivals]) late()
    },
    leadTo(other) {
      goal = other
      cut()
    },
    [Symbol.asyncDispose]: close,
  }
}
