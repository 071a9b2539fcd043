/**
 * Operations whose answer continues with what happens, as server-sent events. The process that owns
 * the workspace is told about each commit, and about the text of models. Another process passes the
 * stream on to the owner. If that is impossible, it reads rows, without the text.
 */
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import type { LocalBus } from '#ops/agent/job/bus'
import type { Call } from '#ops/engine/call'
import { type Asked, eventResponse, type StreamPlaces } from '../event-streams.ts'
import { inputOf } from '../input.ts'
import { limitHeaders } from '../respond.ts'
import { Follower, type Look } from './follower.ts'

interface StreamDeps {
  places: StreamPlaces
  bus: LocalBus
  log: Log
  /** Whether all letters of the workspace run here. */
  owns(tenantId: string): boolean
}

interface Input {
  id: string
  after?: number
}

export class Streams {
  constructor(private readonly deps: StreamDeps) {}

  /**
   * Rejects with the operation's errors, with `rate_limited:streams`, and with `unavailable` while
   * the process is stopping.
   */
  async open(asked: Asked): Promise<Response> {
    const { o, incoming, call } = asked
    const input = withLastId(await inputOf(o, incoming, call.tenantId), incoming.request)
    const id = String(input.id).toLowerCase()
    const follower = new Follower({ id, look: lookOf(asked, input), log: this.deps.log })
    // Subscribes before the first read, so that nothing is missed between it and the next.
    follower.onEnd(this.deps.bus.subscribe(id, (news) => follower.hear(news)))
    try {
      const { body, allowances } = await o.run(() => input, call)
      const first = JSON.parse(body) as Look
      const passed = first.done ? undefined : await this.#passOn(asked)
      if (passed) follower.body.drop()
      else this.#begin(follower, first, call)
      return passed ?? eventResponse(follower.body.stream, call.requestId, limitHeaders(allowances))
    } catch (cause) {
      follower.body.drop()
      throw cause
    }
  }

  #passOn(asked: Asked): Promise<Response | undefined> | undefined {
    return this.deps.owns(asked.call.tenantId) ? undefined : this.deps.places.passOn(asked)
  }

  #begin(follower: Follower, first: Look, call: Call): void {
    const open = {
      look: () => (this.deps.owns(call.tenantId) ? follower.retry() : follower.look()),
      comment: () => follower.comment(),
      end: () => follower.end(),
    }
    follower.onEnd(this.deps.places.admit(open, call))
    follower.begin(first)
  }
}

const LAST_ID = 'Last-Event-ID'

/** A client that reconnects names the last event that it has, and gets its first answer at once. */
const withLastId = (
  { wait: _, ...input }: Record<string, unknown>,
  { headers }: Request,
): Input => {
  const last = headers.get(LAST_ID) ?? ''
  if (last === '') return input as unknown as Input
  if (/^\d{1,15}$/.test(last)) return { ...input, after: Number(last) } as unknown as Input
  const message = 'must be the id of an event'
  throw new AppError('invalid_input', `${LAST_ID} ${message}`, {
    details: [{ path: LAST_ID, message }],
  })
}

/**
 * Reads more, with the same checks as the first read. These reads do not count against any rate.
 */
const lookOf = ({ o, call }: Asked, input: Input): ((after: number) => Promise<Look>) => {
  const again: Call = { ...call, plan: undefined }
  return async (after) => JSON.parse((await o.run(() => ({ ...input, after }), again)).body) as Look
}
