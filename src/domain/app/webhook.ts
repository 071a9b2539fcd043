/** Telling a workspace's endpoint of its events: when to try again, when to give up, and when to stop altogether. Pure. */
import { createHash } from 'node:crypto'

/** All durations in milliseconds. Source of the schedule and of the five days: Svix. */
export interface WebhookTimes {
  /** The wait before each try of an event; after the last one it is given up. */
  scheduleMs: readonly number[]
  /** How long a receiver may take to answer. */
  deadlineMs: number
  /** How long a claim of an event holds. */
  leaseMs: number
  /** Kept free between the deadline of a request and the end of its lease. */
  marginMs: number
  /** An endpoint at which nothing has succeeded for so long is disabled. */
  disableAfterMs: number
  /** Failures that lie further apart than this, and are fewer than `FEW_FAILURES`, are not one time of failing. */
  apartMs: number
  /** The longest that a receiver may ask us to wait. */
  longestHoldMs: number
  /** How long the previous secret signs beside the new one. */
  rotationMs: number
  /** How long events that are over are kept: those delivered (the unwanted too, by a default of their table), and those given up. */
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

/** Whether an endpoint is to be disabled is not judged by fewer failures than this. */
const FEW_FAILURES = 3
/** Waits differ by up to this share, so that what failed together does not come back together. */
const JITTER = 0.1

/** Sent by whoever tries the endpoint: no allow-list holds it back. */
export const TEST_EVENT = 'webhook.test'

export interface Endpoint {
  /** Made anew whenever the endpoint is set, or leads elsewhere. */
  id: string
  url: string
  /** The kinds it wants; none: all. */
  events: string[]
  status: 'active' | 'disabled'
  disabled_reason: string | null
  failing_since: Date | null
  failures: number
  held_until: Date | null
  updated_at: Date
}

/** What somebody says of an endpoint; `id` for one that it becomes anew. */
export interface EndpointWish {
  id: string
  url: string
  events: string[]
  now: Date
}

/** One of which nothing is known yet. */
export const freshEndpoint = ({ now, ...wish }: EndpointWish): Endpoint => ({
  ...wish,
  ...{ status: 'active', disabled_reason: null, failing_since: null, failures: 0, held_until: null, updated_at: now },
})

/** How it fared stays true of it as long as its address does and it was not disabled: otherwise it begins anew. */
export const changedEndpoint = (before: Endpoint, wish: EndpointWish): Endpoint =>
  before.url === wish.url && before.status === 'active' ? { ...before, events: wish.events, updated_at: wish.now } : freshEndpoint(wish)

export const hostOfUrl = (url: string): string => new URL(url).host

/** What the audit trail keeps of an address, which may hold a token: its host, and by what it can be told from others. */
export const tracesOf = (url: string) => ({ url_host: hostOfUrl(url), url_sha256: createHash('sha256').update(url).digest('hex') })

export interface PendingEvent {
  id: string
  type: string
  data: Record<string, unknown>
  created_at: Date
  /** The record it is of: events of one are sent in order. */
  subject: string | null
  /** Tries so far. */
  attempts: number
  next_at: Date
}

/** What became of a try. `stopped`: it was not made or not finished, and does not count. */
export type DeliveryOutcome =
  | { kind: 'accepted' }
  | { kind: 'gone' }
  | { kind: 'failed'; reason: string; retryAfterMs?: number | undefined }
  | { kind: 'stopped' }

export const wants = (events: readonly string[], type: string): boolean => events.length === 0 || events.includes(type)

/** The record that an event is of. */
export const subjectOf = (data: Record<string, unknown>): string | null => {
  const subject = data.item_id ?? data.batch_id
  return typeof subject === 'string' ? subject : null
}

/** What is sent, the same text on every try. */
export const eventBody = (event: Pick<PendingEvent, 'id' | 'type' | 'data' | 'created_at'>, workspaceId: string): string => {
  const { id, type, data, created_at } = event
  return JSON.stringify({ id, type, created_at, workspace_id: workspaceId, data })
}

export interface Delivered {
  endpoint: Endpoint
  event: PendingEvent
  now: Date
  times: WebhookTimes
  /** A random number from 0 to 1, for the jitter. */
  chance: number
}

/** What becomes of the event: over until `expires_at`, or tried again. */
type EventNext =
  | { state: 'delivered' | 'dead'; attempts: number; error: string | null; expiresAt: Date }
  | { state: 'pending'; attempts: number; error: string | null; nextAt: Date }

export interface AfterDelivery {
  endpoint: Endpoint
  event: EventNext
}

const after = (now: Date, ms: number): Date => new Date(now.getTime() + ms)

export const afterDelivery = (delivered: Delivered, outcome: DeliveryOutcome): AfterDelivery => {
  const { endpoint, event, now, times } = delivered
  const attempts = event.attempts + 1
  switch (outcome.kind) {
    case 'stopped':
      return { endpoint, event: { state: 'pending', attempts: event.attempts, error: null, nextAt: now } }
    case 'accepted':
      return {
        endpoint: endpoint.failures === 0 ? endpoint : { ...endpoint, failing_since: null, failures: 0, held_until: null, updated_at: now },
        event: { state: 'delivered', attempts, error: null, expiresAt: after(now, times.keepMs) },
      }
    case 'gone':
      return {
        endpoint: { ...endpoint, status: 'disabled', disabled_reason: 'the receiver returned 410 Gone', updated_at: now },
        event: { state: 'dead', attempts, error: 'http 410', expiresAt: after(now, times.keepDeadMs) },
      }
    case 'failed':
      return { endpoint: failing(delivered, outcome), event: failedEvent(delivered, outcome) }
  }
}

type Failed = Extract<DeliveryOutcome, { kind: 'failed' }>

/** What a receiver asks for is granted to all events, within bounds. */
const holdMs = ({ retryAfterMs = 0 }: Failed, { longestHoldMs }: WebhookTimes): number => Math.min(retryAfterMs, longestHoldMs)

const failedEvent = ({ event, now, times, chance }: Delivered, outcome: Failed): EventNext => {
  const attempts = event.attempts + 1
  const wait = times.scheduleMs[attempts]
  if (wait === undefined) return { state: 'dead', attempts, error: outcome.reason, expiresAt: after(now, times.keepDeadMs) }
  const jittered = wait * (1 - JITTER + 2 * JITTER * chance)
  return { state: 'pending', attempts, error: outcome.reason, nextAt: after(now, Math.max(jittered, holdMs(outcome, times))) }
}

/** The time of failing counts from its first failure; single ones that lie far apart begin it anew. */
const failing = ({ endpoint, now, times }: Delivered, outcome: Failed): Endpoint => {
  const since = endpoint.failing_since
  const begins = since === null || (endpoint.failures < FEW_FAILURES && now.getTime() - since.getTime() > times.apartMs)
  const failing_since = begins ? now : since
  const failures = begins ? 1 : endpoint.failures + 1
  const hold = holdMs(outcome, times)
  const held_until = hold > 0 ? after(now, hold) : endpoint.held_until
  const next: Endpoint = { ...endpoint, failing_since, failures, held_until, updated_at: now }
  const tooLong = failures >= FEW_FAILURES && now.getTime() - failing_since.getTime() >= times.disableAfterMs
  return tooLong ? { ...next, status: 'disabled', disabled_reason: `every delivery failed since ${failing_since.toISOString()}` } : next
}
