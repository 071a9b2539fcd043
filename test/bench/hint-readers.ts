/**
 * Readers of hints, a process of its own: reads plans as lines of JSON, opens their streams, and
 * tells once each has begun. An empty plan closes them, and tells how many bytes they have got.
 */
import type { Socket } from 'bun'
import { requestOf } from './requests.ts'
import { serveLines } from './spawn.ts'

export interface ReadersPlan {
  port: number
  /** A credential for each stream. */
  keys: string[]
}

export interface ReadersResult {
  bytes: number
}

const open: Socket[] = []
let bytes = 0

const follow = async (port: number, key: string): Promise<void> => {
  const begun = Promise.withResolvers<void>()
  const data = (_: Socket, chunk: Buffer) => {
    bytes += chunk.byteLength
    if (chunk.includes('resync')) begun.resolve()
  }
  const error = (_: Socket, cause: Error) => begun.reject(cause)
  const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data, error } })
  open.push(socket)
  const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' }
  socket.write(requestOf('GET /api/v1/app/events', headers))
  await begun.promise
}

if (import.meta.main)
  await serveLines<ReadersPlan, ReadersResult>(async ({ port, keys }) => {
    for (const socket of open.splice(0)) socket.end()
    const result = { bytes }
    bytes = 0
    await Promise.all(keys.map((key) => follow(port, key)))
    return result
  })
