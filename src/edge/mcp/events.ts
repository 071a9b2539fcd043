/** The messages sent on a session's streams, stored for clients that reconnect and resume. */
import type { EventId, EventStore, JSONRPCMessage, StreamId } from '@modelcontextprotocol/server'

interface StoredEvent {
  streamId: StreamId
  message: JSONRPCMessage
  size: number
}

/** Limits in characters of JSON. */
export interface EventBounds {
  perSession: number
  perProcess: number
}

interface OfWorkspace {
  /** Oldest first. */
  order: Map<StoredEvent, { store: SessionEvents; id: EventId }>
  size: number
}

/**
 * The events of all sessions of a process. When it is full, the workspace with the most events
 * loses its oldest ones.
 */
export class EventLog {
  readonly #byWorkspace = new Map<string, OfWorkspace>()
  #size = 0

  constructor(private readonly bounds: EventBounds) {}

  ofSession(tenantId: string): SessionEvents {
    return new SessionEvents(this, tenantId, this.bounds.perSession)
  }

  get size(): number {
    return this.#size
  }

  add(event: StoredEvent, store: SessionEvents, id: EventId): void {
    const own = this.#byWorkspace.getOrInsertComputed(store.tenantId, () => ({
      order: new Map(),
      size: 0,
    }))
    own.order.set(event, { store, id })
    own.size += event.size
    this.#size += event.size
    while (this.#size > this.bounds.perProcess) {
      const largest = [...this.#byWorkspace.values()].reduce((most, one) =>
        one.size > most.size ? one : most,
      )
      const [oldest] = largest.order.values()
      oldest!.store.forget(oldest!.id)
    }
  }

  remove(event: StoredEvent, { tenantId }: SessionEvents): void {
    const own = this.#byWorkspace.get(tenantId)
    if (!own?.order.delete(event)) return
    own.size -= event.size
    this.#size -= event.size
    if (own.order.size === 0) this.#byWorkspace.delete(tenantId)
  }
}

/**
 * The events of one session. Ids are valid only within their session, so that nobody can resume
 * another caller's stream.
 */
export class SessionEvents implements EventStore {
  readonly #events = new Map<EventId, StoredEvent>()
  #size = 0
  #last = 0

  constructor(
    private readonly log: EventLog,
    readonly tenantId: string,
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

  async replayEventsAfter(
    lastId: EventId,
    { send }: { send: (id: EventId, message: JSONRPCMessage) => Promise<void> },
  ): Promise<StreamId> {
    const streamId = this.#events.get(lastId)?.streamId ?? ''
    const ids = [...this.#events.keys()]
    for (const id of ids.slice(ids.indexOf(lastId) + 1)) {
      const event = this.#events.get(id)
      // The first event of a stream has no message. It only gives the client an id from which to
      // resume.
      if (event?.streamId === streamId && Object.keys(event.message).length > 0)
        await send(id, event.message)
    }
    return streamId
  }

  forget(id: EventId): void {
    const event = this.#events.get(id)
    if (!event) return
    this.#events.delete(id)
    this.#size -= event.size
    this.log.remove(event, this)
  }

  /** The ids of cleared events are never used again. */
  clear(): void {
    for (const id of [...this.#events.keys()]) this.forget(id)
  }
}
