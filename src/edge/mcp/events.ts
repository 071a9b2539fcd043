/** The messages sent on a session's streams, stored for clients that reconnect and resume. */
import type { EventId, EventStore, JSONRPCMessage, StreamId } from '@modelcontextprotocol/server'

interface StoredEvent {
  streamId: StreamId
  message: JSONRPCMessage
  size: number
}

/** In characters of JSON. */
export interface EventBounds {
  perSession: number
  perProcess: number
}

/** The events of all sessions of a process. When it is full, the oldest go first, whichever session they belong to. */
export class EventLog {
  readonly #order = new Map<StoredEvent, { store: SessionEvents; id: EventId }>()
  #size = 0

  constructor(private readonly bounds: EventBounds) {}

  ofSession(): SessionEvents {
    return new SessionEvents(this, this.bounds.perSession)
  }

  get size(): number {
    return this.#size
  }

  add(event: StoredEvent, store: SessionEvents, id: EventId): void {
    this.#order.set(event, { store, id })
    this.#size += event.size
    while (this.#size > this.bounds.perProcess) {
      const { value: oldest } = this.#order.values().next()
      if (!oldest) return
      oldest.store.forget(oldest.id)
    }
  }

  remove(event: StoredEvent): void {
    if (this.#order.delete(event)) this.#size -= event.size
  }
}

/** The events of one session. Ids are valid within their session only, so nobody can resume another caller's stream. */
export class SessionEvents implements EventStore, Disposable {
  readonly #events = new Map<EventId, StoredEvent>()
  #size = 0
  #last = 0

  constructor(
    private readonly log: EventLog,
    private readonly bound: number,
  ) {}

  async storeEvent(streamId: StreamId, message: JSONRPCMessage): Promise<EventId> {
    const id = (++this.#last).toString(36)
    const event = { streamId, message, size: JSON.stringify(message).length }
    this.#events.set(id, event)
    this.#size += event.size
    this.log.add(event, this, id)
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
      const event = this.#events.get(id)
      // The first event of a stream has no message; it only gives the client an id to resume from.
      if (event?.streamId === streamId && Object.keys(event.message).length > 0) await send(id, event.message)
    }
    return streamId
  }

  forget(id: EventId): void {
    const event = this.#events.get(id)
    if (!event) return
    this.#events.delete(id)
    this.#size -= event.size
    this.log.remove(event)
  }

  [Symbol.dispose](): void {
    for (const id of [...this.#events.keys()]) this.forget(id)
  }
}
