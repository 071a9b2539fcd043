/** A connection between server and database that can lose the answer to a commit. */
import { connect, createServer, type Socket } from 'node:net'
import type { ConnectionOptions } from '#store/engine/db'

export interface Wire extends AsyncDisposable {
  /** The same database, through this connection. */
  options: ConnectionOptions
  /**
   * Cuts the connection of the next transaction that has `text` in a parameter: after its commit,
   * but before the server gets the answer. Resolves when that has happened.
   */
  loseCommitOf(text: string): Promise<void>
}

/** The server's answer to `commit`: CommandComplete with its tag. */
const COMMITTED = Buffer.from('C\0\0\0\x0bCOMMIT\0', 'latin1')
/** ReadyForQuery outside a transaction: everything before it belongs to earlier transactions. */
const IDLE = Buffer.from('Z\0\0\0\x05I', 'latin1')

export async function openWire(target: ConnectionOptions): Promise<Wire> {
  const { host = 'localhost', port = 5432 } = target
  const sockets = new Set<Socket>()
  const lost = new Map<string, () => void>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    const upstream = keep(
      host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host),
    )
    const cut = () => [client, upstream].map((socket) => socket.destroy())
    /** What the client has sent in this transaction. */
    let said = ''
    keep(client).on('close', cut)
    upstream.on('close', cut)
    client.on('data', (bytes: Buffer) => {
      said += bytes.toString('latin1')
      upstream.write(bytes)
    })
    upstream.on('data', (bytes: Buffer) => {
      const committed = bytes.includes(COMMITTED)
      const [named, news] = (committed && [...lost].find(([text]) => said.includes(text))) || []
      if (committed || bytes.subarray(-IDLE.length).equals(IDLE)) said = ''
      if (named === undefined) return void client.write(bytes)
      lost.delete(named)
      cut()
      news?.()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address() as { port: number }
  return {
    options: { ...target, host: '127.0.0.1', port: address.port },
    loseCommitOf: (text) => new Promise((resolve) => lost.set(text, resolve)),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
