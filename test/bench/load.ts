/**
 * The load generator, a process of its own: reads plans as lines of JSON, sends requests over
 * persistent connections, one at a time on each, and prints the result as JSON. It is small, since
 * it shares the machine with what it measures.
 */
import type { Socket } from 'bun'
import { serveLines } from './spawn.ts'

export interface Plan {
  port: number
  /** Connections, each with one request at a time. */
  callers: number
  seconds: number
  /** Not counted in the result. */
  warmUpSeconds: number
  /**
   * Complete HTTP requests, sent in turn. `{n}` becomes a ten-digit number that is unique within
   * the run.
   */
  requests: string[]
  /** Sends each request once at most; the run ends when none is left. */
  once?: boolean
  /** The first value of `{n}`. */
  from: number
  /**
   * Requests a second of all callers together, evenly spaced; without it, each caller sends as soon
   * as it has its answer.
   */
  rate?: number
}

export interface Result {
  perSecond: number
  /** In milliseconds. */
  p50: number
  p99: number
  count: number
  /** How often each status was answered. */
  statuses: Record<string, number>
  /** Average size of an answer, with its head. */
  bytes: number
  /** Processor time of the load generator itself, in milliseconds. */
  cpuMs: number
}

const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = /content-length: *(\d+)/i
const CHUNKED = /transfer-encoding: *chunked/i
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** The length of the first answer in `bytes`, or undefined while it is incomplete. */
export const answerLength = (bytes: Buffer): number | undefined => {
  const head = bytes.indexOf(HEAD_END)
  if (head < 0) return undefined
  const fields = bytes.toString('latin1', 0, head)
  // Only one answer is in transit, so bytes that end like the last chunk are its end.
  if (CHUNKED.test(fields))
    return bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK) ? bytes.byteLength : undefined
  const length = LENGTH.exec(fields)
  if (!length) throw new Error(`an answer without a length: ${fields}`)
  const whole = head + HEAD_END.length + Number(length[1])
  return bytes.byteLength < whole ? undefined : whole
}

/** The value below which this share of the sorted values lies. */
export const quantile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

interface Caller {
  socket: Socket<Caller>
  sentAt: number
  partial: Buffer | undefined
}

const MOST_ANSWERS = 4_000_000
/** An answer that takes longer is a fault of the server, and ends the run. */
const PATIENCE_MS = 10_000
const times = new Float64Array(MOST_ANSWERS)

export async function run(plan: Plan): Promise<Result> {
  const statuses: Record<string, number> = {}
  const started = performance.now()
  const counted = started + plan.warmUpSeconds * 1_000
  const ends = counted + plan.seconds * 1_000
  const gap = plan.rate ? (plan.callers * 1_000) / plan.rate : 0
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  let [count, sent, open, lastAt, bytesIn] = [0, 0, plan.callers, counted, 0]
  let cpu = process.cpuUsage()
  const counting = setTimeout(() => {
    cpu = process.cpuUsage()
  }, plan.warmUpSeconds * 1_000)
  const stop = (caller: Caller) => {
    caller.socket.end()
    if (--open === 0) resolve()
  }
  const ask = (caller: Caller) => {
    caller.sentAt = performance.now()
    if (caller.sentAt >= ends || (plan.once && sent >= plan.requests.length)) return stop(caller)
    const request = plan.requests[sent % plan.requests.length]!
    const text = request.replace('{n}', String(plan.from + sent).padStart(10, '0'))
    sent++
    if (caller.socket.write(text) < text.length)
      reject(new Error('a request did not fit into the send buffer'))
  }
  const answered = (caller: Caller, bytes: Buffer) => {
    const now = performance.now()
    lastAt = now
    const status = bytes.toString('latin1', 9, 12)
    if (caller.sentAt >= counted && count < MOST_ANSWERS) {
      times[count++] = now - caller.sentAt
      bytesIn += bytes.byteLength
      statuses[status] = (statuses[status] ?? 0) + 1
    }
    if (gap === 0) return ask(caller)
    setTimeout(ask, Math.max(0, caller.sentAt + gap - now), caller)
  }
  const data = (socket: Socket<Caller>, chunk: Buffer) => {
    const caller = socket.data
    const bytes = caller.partial ? Buffer.concat([caller.partial, chunk]) : chunk
    const whole = answerLength(bytes) !== undefined
    caller.partial = whole ? undefined : Buffer.from(bytes)
    if (whole) answered(caller, bytes)
  }
  const close = (socket: Socket<Caller>) => {
    if (performance.now() < ends && !plan.once)
      reject(new Error(`the server closed a connection of ${socket.data.sentAt}`))
  }
  const late = setTimeout(
    () => reject(new Error(`${open} callers were not answered in time`)),
    ends - started + PATIENCE_MS,
  )
  for (let index = 0; index < plan.callers; index++) {
    const caller: Caller = { socket: undefined as never, sentAt: 0, partial: undefined }
    caller.socket = await Bun.connect<Caller>({
      hostname: '127.0.0.1',
      port: plan.port,
      data: caller,
      socket: { data, close },
    })
    if (gap > 0) setTimeout(ask, Math.random() * gap, caller)
    else ask(caller)
  }
  await done
  clearTimeout(late)
  clearTimeout(counting)
  const { user, system } = process.cpuUsage(cpu)
  const sorted = times.subarray(0, count).sort()
  const seconds = Math.max(lastAt - counted, 1) / 1_000
  const [p50, p99] = [quantile(sorted, 0.5), quantile(sorted, 0.99)]
  return {
    perSecond: count / seconds,
    p50,
    p99,
    count,
    statuses,
    bytes: bytesIn / count,
    cpuMs: (user + system) / 1_000,
  }
}

if (import.meta.main) await serveLines(run)
