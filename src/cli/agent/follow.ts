/** Follows a job, by a stream or, where streams do not get through, by asking again and again. */
import { pathParams } from '#contract/op'
import { askOf } from '../call.ts'
import type { AgentContext } from './context.ts'
import { operationOf } from './context.ts'
import { eventReader, type ReceivedEvent } from './sse.ts'

export interface JobEvent {
  /** Undefined for pieces of text, which the server does not keep. */
  seq: number | undefined
  type: string
  data: Record<string, unknown>
}

/** Returns false to stop following. */
type Take = (event: JobEvent) => boolean

export interface FollowRequest {
  id: string
  /** The seq of the last event that was taken. */
  after: number
  take: Take
  /** Never uses a stream. */
  pollOnly?: boolean
}

/** `over`: the job has ended, and all its events were taken. */
export interface FollowResult {
  after: number
  over: boolean
}

const WAIT_S = 25
const PAUSE_MS = 1_000
/** How many streams in a row may bring nothing. */
const MOST_EMPTY = 3

const FINAL: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled'])

const jobEventOf = ({ id, event, data }: ReceivedEvent): JobEvent | undefined => {
  try {
    const value: unknown = JSON.parse(data)
    const seq = id === undefined || !/^\d+$/.test(id) ? undefined : Number(id)
    return typeof value === 'object' && value !== null
      ? { seq, type: event, data: value as JobEvent['data'] }
      : undefined
  } catch {
    return undefined
  }
}

/** What has been taken so far. */
class Progress {
  over = false
  stopped = false

  constructor(
    public after: number,
    private readonly take: Take,
  ) {}

  /** The server no longer has the last event, and sends what it has from the beginning. */
  begin(): void {
    this.after = 0
  }

  /** Drops an event that comes a second time, after a reconnection. */
  add(event: JobEvent): void {
    if (event.type === 'resync') this.begin()
    else this.#take(event)
  }

  #take(event: JobEvent): void {
    if (this.stopped || (event.seq !== undefined && event.seq <= this.after)) return
    this.after = event.seq ?? this.after
    this.over ||= event.type === 'job.status' && FINAL.has(event.data.status)
    this.stopped = !this.take(event)
  }
}

/**
 * Reads one stream to its end. Returns false if the server, or something in front of it, does not
 * send streams.
 */
const stream = async (
  { streams, token }: AgentContext,
  { id }: FollowRequest,
  progress: Progress,
): Promise<boolean> => {
  const o = operationOf('agent.jobs.events')
  const [name = 'id'] = pathParams(o.path)
  const ask = askOf(
    o,
    { [name]: id, ...(progress.after > 0 ? { after: progress.after } : {}) },
    { token },
  )
  const headers = {
    ...ask.headers,
    accept: 'text/event-stream',
    'last-event-id': String(progress.after),
  }
  const read = eventReader()
  const sink = async (bytes: Uint8Array): Promise<void> => {
    for (const event of read(bytes)) {
      const one = jobEventOf(event)
      if (one) progress.add(one)
    }
    if (progress.stopped) throw new Error('enough')
  }
  const reply = await streams.exchange({ ...ask, headers, sink })
  return reply.status === 200 && /^text\/event-stream\b/.test(reply.headers['content-type'] ?? '')
}

/** Reads streams, each from where the last one broke off. Returns false if that does not work. */
const byStreams = async (
  context: AgentContext,
  following: FollowRequest,
  progress: Progress,
): Promise<boolean> => {
  for (let empty = 0; empty < MOST_EMPTY; ) {
    const before = progress.after
    const isStream = await stream(context, following, progress).catch(() => true)
    if (progress.stopped || progress.over) return true
    context.host.signal.throwIfAborted()
    if (!isStream) return false
    empty = progress.after === before ? empty + 1 : 0
    await context.host.pause(PAUSE_MS)
  }
  return false
}

const byPolls = async (
  context: AgentContext,
  { id }: FollowRequest,
  progress: Progress,
): Promise<void> => {
  while (!progress.stopped) {
    const input = { id, after: progress.after, wait: WAIT_S }
    const { events, resync, done } = await context.ask<{
      events: JobEvent[]
      resync: boolean
      done: boolean
    }>('agent.jobs.events', input)
    if (resync) progress.begin()
    for (const event of events) progress.add(event)
    if (done || progress.over) return
  }
}

/**
 * Passes on the events of a job, in order and each only once, until the job ends or `take` returns
 * false.
 */
export const follow = async (
  context: AgentContext,
  following: FollowRequest,
): Promise<FollowResult> => {
  const progress = new Progress(following.after, following.take)
  const isDone = !following.pollOnly && (await byStreams(context, following, progress))
  if (!isDone) await byPolls(context, following, progress)
  return { after: progress.after, over: !progress.stopped || progress.over }
}
