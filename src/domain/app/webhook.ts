/**
 * Delivery of events to a workspace's endpoint: when to retry, when to give up, when to disable the
 * endpoint. Pure.
 */
import { createHash } from 'node:crypto'

/** All in milliseconds. The schedule and the five days are Svix's. */
export interface WebhookTimes {
  /** The wait before each try of an event. After the last one it is given up. */
  scheduleMs: readonly number[]
  /** How long a receiver can take to respond. */
  deadlineMs: number
  /** The lease of a claimed event. */
  leaseMs: number
  /** Time left between a request's deadline and the end of its lease. */
  marginMs: number
  /** An endpoint is disabled when nothing has succeeded for this long. */
  disableAfterMs: number
  /**
   * Failures further apart than this start a new count, unless there were `FEW_FAILURES` of them.
   */
  apartMs: number
  /** The longest wait that a receiver can ask for. */
  longestHoldMs: number
  /** How long the previous secret signs alongside the new one. */
  rotationMs: number
  /**
   * How long finished events are kept: delivered ones (and unwanted ones, by a default of their
   * table), and dead ones.
   */
  keepMs: number
  keepDeadMs: number
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export const webhookTimes: WebhookTimes = {
  scheduleMs: [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
  deadlineMs: 15 * SECOND,
  leaseMs: 25 * SECOND,
  marginMs: 5 * SECOND,
  disableAfterMs: 5 * DAY,
  apartMs: DAY,
  longestHoldMs: DAY,
  rotationMs: DAY,
  keepMs: DAY,
  keepDeadMs: 30 * DAY,
}

/** An endpoint with fewer failures than this is not disabled. */
const FEW_FAILURES = 3
/** Waits vary by up to this share, so that events that failed together are not retried together. */
const JITTER = 0.1

/** The event of a test delivery. Event filters do not hold it back. */
export const TEST_EVENT = 'webhook.test'

export interface Endpoint {
  /** New whenever the endpoint is created or its URL changes. */
  id: string
  url: string
  /** Event types to send; empty means all. */
  events: string[]
  status: 'active' | 'disabled'
  disabled_reason: string | null
  failing_since: Date | null
  failures: number
  held_until: Date | null
  updated_at: Date
}

/** A requested endpoint. `id` is used if it counts as a new one. */
export interface EndpointRequest {
  id: string
  url: string
  events: string[]
  now: Date
}

/** An endpoint without history. */
export const newEndpoint = ({ now, ...wish }: EndpointRequest): Endpoint => ({
  ...wish,
  status: 'active',
  disabled_reason: null,
  failing_since: null,
  failures: 0,
  held_until: null,
  updated_at: now,
})

/** Keeps the history of an active endpoint whose URL stays the same. Otherwise it starts anew. */
export const changedEndpoint = (before: Endpoint, wish: EndpointRequest): Endpoint =>
  before.url === wish.url && before.status === 'active'
    ? { ...before, events: wish.events, updated_at: wish.now }
    : newEndpoint(wish)

export const hostOfUrl = (url: string): string => new URL(url).host

/** An endpoint in the audit trail: its host and a hash, because the URL may hold a token. */
export const endpointTrace = (url: string) => ({
  url_host: hostOfUrl(url),
  url_sha256: createHash('sha256').update(url).digest('hex'),
})

export interface PendingEvent {
  id: string
  type: string
  data: Record<string, unknown>
  created_at: Date
  /** The record it belongs to. Events of one record are sent in order. */
  subject: string | null
  /** Tries so far. */
  attempts: number
  next_at: Date
}

/** The result of a try. `stopped`: it was not made, or was broken off, and does not count. */
export type DeliveryOutcome =
  | { kind: 'accepted' }
  | { kind: 'gone' }
  | { kind: 'failed'; reason: string; retryAfterMs?: number | undefined }
  | { kind: 'stopped' }

export const wants = (events: readonly string[], type: string): boolean =>
  events.length === 0 || events.includes(type)

/** The record that an event belongs to. */
export const subjectOf = (data: Record<string, unknown>): string | null => {
  const subject = data.item_id ?? data.batch_id
  return typeof subject === 'string' ? subject : null
}

/** The body, byte for byte the same on every try. */
export const eventBody = (
  event: Pick<PendingEvent, 'id' | 'type' | 'data' | 'created_at'>,
  workspaceId: string,
): string => {
  const { id, type, data, created_at } = event
  return JSON.stringify({ id, type, created_at, workspace_id: workspaceId, data })
}

export interface DeliveryTry {
  endpoint: Endpoint
  event: PendingEvent
  now: Date
  times: WebhookTimes
  /** A random number from 0 to 1, for the jitter. */
  chance: number
}

/** The event's next state: over until `expiresAt`, or tried again at `nextAt`. */
type EventNext =
  | { state: 'delivered' | 'dead'; attempts: number; error: string | null; expiresAt: Date }
  | { state: 'pending'; attempts: number; error: string | null; nextAt: Date }

export interface AfterDelivery {
  endpoint: Endpoint
  event: EventNext
}

const addMs = (now: Date, ms: number): Date => new Date(now.getTime() + ms)

export const afterDelivery = (delivered: DeliveryTry, outcome: DeliveryOutcome): AfterDelivery => {
  const { endpoint, event, now, times } = delivered
  const attempts = event.attempts + 1
  switch (outcome.kind) {
    case 'stopped':
      return {
        endpoint,
        event: { state: 'pending', attempts: event.attempts, error: null, nextAt: now },
      }
    case 'accepted':
      return {
        endpoint:
          endpoint.failures === 0
            ? endpoint
            : { ...endpoint, failing_since: null, failures: 0, held_until: null, updated_at: now },
        event: { state: 'delivered', attempts, error: null, expiresAt: addMs(now, times.keepMs) },
      }
    case 'gone':
      return {
        endpoint: {
          ...endpoint,
          status: 'disabled',
          disabled_reason: 'the receiver returned 410 Gone',
          updated_at: now,
        },
        event: {
          state: 'dead',
          attempts,
          error: 'http 410',
          expiresAt: addMs(now, times.keepDeadMs),
        },
      }
    case 'failed':
      return { endpoint: failing(delivered, outcome), event: failedEvent(delivered, outcome) }
  }
}

type Failed = Extract<DeliveryOutcome, { kind: 'failed' }>

/** A receiver's Retry-After, capped. It holds back all events of the endpoint. */
const holdMs = ({ retryAfterMs = 0 }: Failed, { longestHoldMs }: WebhookTimes): number =>
  Math.min(retryAfterMs, longestHoldMs)

const failedEvent = ({ event, now, times, chance }: DeliveryTry, outcome: Failed): EventNext => {
  const attempts = event.attempts + 1
  const wait = times.scheduleMs[attempts]
  if (wait === undefined)
    return {
      state: 'dead',
      attempts,
      error: outcome.reason,
      expiresAt: addMs(now, times.keepDeadMs),
    }
  const jittered = wait * (1 - JITTER + 2 * JITTER * chance)
  return {
    state: 'pending',
    attempts,
    error: outcome.reason,
    nextAt: addMs(now, Math.max(jittered, holdMs(outcome, times))),
  }
}

/** Counts from the first failure; isolated failures far apart start a new count. */
const failing = ({ endpoint, now, times }: DeliveryTry, outcome: Failed): Endpoint => {
  const since = endpoint.failing_since
  const begins =
    since === null ||
    (endpoint.failures < FEW_FAILURES && now.getTime() - since.getTime() > times.apartMs)
  const failing_since = begins ? now : since
  const failures = begins ? 1 : endpoint.failures + 1
  const hold = holdMs(outcome, times)
  const held_until = hold > 0 ? addMs(now, hold) : endpoint.held_until
  const next: Endpoint = { ...endpoint, failing_since, failures, held_until, updated_at: now }
  const tooLong =
    failures >= FEW_FAILURES && now.getTime() - failing_since.getTime() >= times.disableAfterMs
  return tooLong
    ? {
        ...next,
        status: 'disabled',
        disabled_reason: `every delivery failed since ${failing_since.toISOString()}`,
      }
    : next
}
