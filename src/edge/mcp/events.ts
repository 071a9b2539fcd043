/** What was sent on a session's streams, kept for a while so that a client whose connection broke can read on. */
import type { EventId, EventStore, JSONRPCMessage, StreamId } from '@modelcontextprotocol/server'

interface Kept {
  streamId: StreamId
  message: JSONRPCMessage
  size: number
}

/** In characters of JSON. */
export interface EventBounds {
  perSession: number
  perProcess: number
}

/** All sessions of a process: when it is full, the oldest events go first, whosever they are. */
export class EventLog {
  readonly #order = new Map<Kept, { store: SessionEvents; id: EventId }>()
  #size = 0

  constructor(private readonly bounds: EventBounds) {}

  ofSession(): SessionEvents {
    return new SessionEvents(this, this.bounds.perSession)
  }

  get size(): number {
    return this.#size
  }

  add(kept: Kept, store: SessionEvents, id: EventId): void {
    this.#order.set(kept, { store, id })
    this.#size += kept.size
    while (this.#size > this.bounds.perProcess) {
      const { value: oldest } = this.#order.values().next()
      if (!oldest) return
      oldest.store.forget(oldest.id)
    }
  }

  remove(kept: Kept): void {
    if (this.#order.delete(kept)) this.#size -= kept.size
  }
}

/** One session's part. Its ids mean nothing in another session, so nobody can read on in a stream of someone else. */
export class SessionEvents implements EventStore, Disposable {
  readonly #events = new Map<EventId, Kept>()
  #size = 0
  #last = 0

  constructor(
    private readonly log: EventLog,
    private readonly bound: number,
  ) {}

  async storeEvent(streamId: StreamId, message: JSONRPCMessage): Promise<EventId> {
    const id = (++this.#last).toString(36)
    const kept = { streamId, message, size: JSON.stringify(message).length }
    this.#events.set(id, kept)
    this.#size += kept.size
    this.log.add(kept, this, id)
    for (const oldest of this.#events.keys()) {
      if (this.#size <= this.bound) break
      this.forget(oldest)
    }
    return id
  }

  async getStreamIdForEventId(id: EventId): Promise<StreamId | undefined> {
    return this.#events.get(id)?.streamId
  }

  async replayEventsAfter(lastId: EventId, { send }: { send: (id: EventId, message: JSONRPCMessage) => Promise<void> }): Promise<StreamId> {
    const streamId = this.#events.get(lastId)?.streamId ?? ''
    const ids = [...this.#events.keys()]
    for (const id of ids.slice(ids.indexOf(lastId) + 1)) {
      const kept = this.#events.get(id)
      // The first event of a stream has no message: it is there to be read on from.
      if (kept?.streamId === streamId && Object.keys(kept.message).length > 0) await send(id, kept.message)
    }
    return streamId
  }

  forget(id: EventId): void {
    const kept = this.#events.get(id)
    if (!kept) return
    this.#events.delete(id)
    this.#size -= kept.size
    this.log.remove(kept)
  }

  [Symbol.dispose](): void {
    for (const id of [...this.#events.keys()]) this.forget(id)
  }
}
