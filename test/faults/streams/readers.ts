/**
 * Readers of a job's or a conversation's events, who break off at random and go on where they were,
 * at another server and another way.
 */
import type postgres from 'postgres'
import { type EventClient, openStream } from '#test/support/http/event-stream'
import type { ServerProcess } from '#test/support/processes/server'

/** An event that is stored. */
export interface Stored {
  id: number
  type: string
  data: Record<string, unknown>
}

export interface Reader {
  /** Of the job's or conversation's events. */
  path: string
  key: string
  /** Jobs that end before the reader has seen everything. */
  ends: number
  got: Stored[]
  /** Connections that it broke off, and those that ended or failed under it. */
  cuts: number
  lost: number
}

export interface Reading {
  servers: ServerProcess[]
  next: () => number
  /** Readers go on one event too early, and must be found out. */
  naive: boolean
  /** When to give up, by `performance.now()`. */
  until: number
}

/** How often each way was taken. */
export type Ways = Record<'by_header' | 'by_query' | 'by_json', number>

const FINAL: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled'])
const MOST_TAKEN = 6
const PAUSE_MS = 50
const WAIT_S = 2

const endsIn = (got: readonly Stored[]): number =>
  got.filter(({ type, data }) => type === 'job.status' && FINAL.has(data.status)).length

/** Jobs that have yet to end. */
const openFor = ({ ends, got }: Reader): number => ends - endsIn(got)

const storedIn = ({ events }: EventClient): Stored[] =>
  events.flatMap(({ id, type, data }) => (id === undefined ? [] : [{ id, type, data }]))

interface Taking {
  key: string
  /** Events after which it breaks off. */
  most: number
  /** Ends of jobs after which nothing more comes: the stream of a conversation stays open. */
  ends: number
  until: number
}

/** Takes events of a stream until it breaks off, or the stream ends. */
const streamed = async (
  url: string,
  { key, most, ends, until }: Taking,
  last?: number,
): Promise<Stored[]> => {
  await using stream = await openStream(url, last === undefined ? { key } : { key, last })
  const enough = stream
    .until(() => storedIn(stream).length >= most || endsIn(storedIn(stream)) >= ends)
    .catch(() => {})
  await Promise.race([enough, Bun.sleep(Math.max(0, until - performance.now()))])
  return storedIn(stream).slice(0, most)
}

interface ShownEvent extends Omit<Stored, 'id'> {
  seq: number
  jobId?: string
}

const polled = async (
  { send }: ServerProcess,
  path: string,
  { key, most }: Taking,
): Promise<Stored[]> => {
  const { body } = await send('GET', path, { key })
  const events = ((body.events ?? []) as ShownEvent[]).slice(0, most)
  return events.map(({ seq, type, data, jobId }) => ({
    id: seq,
    type,
    data: jobId === undefined ? data : { jobId, ...data },
  }))
}

/** What one connection brings. */
const connected = (
  { servers, next, naive, until }: Reading,
  reader: Reader,
  ways: Ways,
  most: number,
): Promise<Stored[]> => {
  const { path, key, got } = reader
  const server = servers[Math.floor(next() * servers.length)]!
  const after = got.at(naive ? -2 : -1)?.id ?? 0
  const way = (Object.keys(ways) as (keyof Ways)[])[Math.floor(next() * 3)]!
  const taking = { key, most, ends: openFor(reader), until }
  ways[way]++
  if (way === 'by_json') return polled(server, `${path}?after=${after}&wait=${WAIT_S}`, taking)
  return way === 'by_query'
    ? streamed(`${server.url}${path}?after=${after}`, taking)
    : streamed(`${server.url}${path}`, taking, after)
}

/**
 * Reads until its jobs are over, breaking off after a few events each time. False if that takes too
 * long.
 */
export const readAll = async (reading: Reading, reader: Reader, ways: Ways): Promise<boolean> => {
  while (openFor(reader) > 0) {
    if (performance.now() > reading.until) return false
    const most = 1 + Math.floor(reading.next() * MOST_TAKEN)
    const events = await connected(reading, reader, ways, most).catch(() => [])
    reader.got.push(...events)
    if (events.length === most) reader.cuts++
    else reader.lost++
    if (events.length === 0) await Bun.sleep(PAUSE_MS)
  }
  return true
}

/** What a reader should have seen, by what it follows. */
export const storedOf = async (
  owner: postgres.Sql,
  of: { job: string } | { conversation: string },
): Promise<Stored[]> => {
  const rows =
    'job' in of
      ? await owner<
          Stored[]
        >`select seq::int as id, type, data from agent_event where job_id = ${of.job} order by seq`
      : await owner<
          Stored[]
        >`select conversation_seq::int as id, type, jsonb_build_object('jobId', job_id) || data as
          data
          from agent_event where conversation_id = ${of.conversation} order by conversation_seq`
  return rows.map(({ id, type, data }) => ({ id, type, data }))
}
