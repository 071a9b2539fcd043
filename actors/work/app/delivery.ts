/**
 * The delivery lane sends a workspace's events to its endpoint: one at a time, at least once, each
 * under its own id, and in order for each record. An event that a dead process left behind is sent
 * again.
 */

import type { Claimed, Lane, LaneContext } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import {
  type AfterDelivery,
  afterDelivery,
  type DeliveryOutcome,
  type Endpoint,
  endpointTrace,
  eventBody,
  type PendingEvent,
  type WebhookTimes,
} from '#domain/app/webhook'
import { AppError } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import type { FairLimit } from '#kernel/fair-limit'
import type { Sealer } from '#kernel/sealer'
import { inSpan, type Tracer } from '#kernel/trace'
import type { Egress } from '#port/egress/egress'
import { deliver } from '#port/webhook'
import {
  type EndpointRow,
  endpointPart,
  endpointWithSecrets,
  saveEndpoint,
  secretRow,
} from '#store/app/webhooks'
import type { Query, Sql } from '#store/engine/db'
import type { Effects, Gate } from '#store/engine/letter'
import { type Loaded, loadNow, when } from '#store/engine/load'
import {
  giveUpEvents,
  manyPending,
  nextEvent,
  outboxLimits,
  pendingEvent,
  saveEvent,
} from '#store/engine/outbox'
import type { Work } from '#store/engine/work'

export interface DeliveryDeps {
  egress: Egress
  sealer: Sealer
  times: WebhookTimes
  failpoints: Failpoints
  /** Deliveries in flight in this process, granted to tenants round-robin. */
  open: FairLimit
  /** Deliveries that have just begun. A slow one gives up its place here to others. */
  quick: FairLimit
  /** Counts how requests to endpoints ended. Must not throw. */
  delivered?: ((outcome: DeliveryOutcome['kind']) => void) | undefined
  tracer?: Tracer | undefined
}

/** Most receivers that respond at all do so within this time. */
const QUICK_MS = 250

interface Job {
  endpoint: EndpointRow
  event: PendingEvent
  /** The sealed secrets, newest first. */
  secrets: Buffer[]
}

interface Sent {
  job: Job
  outcome: DeliveryOutcome
}

/**
 * What settling reads: the event as it is now, and the next event to send; if this one has to wait,
 * the next one of another record.
 */
const loadFor = ({ job: { event }, outcome }: Sent) => ({
  endpoint: endpointPart,
  event: pendingEvent(event.id),
  following: nextEvent({ eventId: event.id, subject: null }),
  beside: when(
    outcome.kind !== 'accepted',
    nextEvent({ eventId: event.id, subject: event.subject }),
  ),
})
type Read = Loaded<ReturnType<typeof loadFor>>

export const deliveryLane = (
  deps: DeliveryDeps,
): Lane<Job, DeliveryOutcome, ReturnType<typeof loadFor>> => ({
  kind: 'delivery',
  leaseMs: deps.times.leaseMs,
  priority: 'background',
  claim: (sql, gate, work) => claimEvent(deps, { sql, gate, work }),
  run: (job, context) => send(deps, job, context),
  load: loadFor,
  settle: async (_, gate, finished, read) => settle(deps, { gate, ...finished }, read),
  crashed: () => ({ kind: 'failed', reason: 'internal error' }),
})

interface Letter {
  sql: Sql
  gate: Gate
  work: Work
}

const requeueDelivery = ({ id }: Work, runAt: Date): Effects => ({ requeued: [{ id, runAt }] })
const endDelivery = ({ id }: Work): Effects => ({ settled: [id] })
const later = (one: Date, other: Date | null): Date => (other && other > one ? other : one)

const claimEvent = async (
  { times }: DeliveryDeps,
  { sql, gate, work }: Letter,
): Promise<Claimed<Job>> => {
  const { endpoint, event } = await loadNow(sql, {
    endpoint: endpointWithSecrets,
    event: nextEvent(),
  })
  if (endpoint?.status !== 'active')
    return { decision: await giveUpOnEndpoint(times, { sql, gate, work }) }
  if (!event) return { decision: { reply: undefined, effects: endDelivery(work) } }
  const at = later(event.next_at, endpoint.held_until)
  if (at > gate.now) return { decision: { reply: undefined, effects: requeueDelivery(work, at) } }
  const previous =
    endpoint.previous_until && endpoint.previous_until > gate.now ? endpoint.previous_secret : null
  const secrets = previous ? [endpoint.secret, previous] : [endpoint.secret]
  return { job: { endpoint, event, secrets }, decision: { reply: undefined } }
}

/** The endpoint is disabled: gives up the waiting events in portions. */
const giveUpOnEndpoint = async (
  { keepDeadMs }: WebhookTimes,
  { sql, gate, work }: Letter,
): Promise<Decision<void>> => {
  const expiresAt = new Date(gate.now.getTime() + keepDeadMs)
  const writes = [giveUpEvents({ beyond: 0, reason: 'the endpoint is disabled', expiresAt })]
  return {
    reply: undefined,
    effects: {
      writes,
      ...((await manyPending(sql)) ? requeueDelivery(work, gate.now) : endDelivery(work)),
    },
  }
}

/** Makes one request, unless it would outlast the claim or its turn did not come in time. */
const send = (deps: DeliveryDeps, job: Job, context: LaneContext): Promise<DeliveryOutcome> =>
  deps.open
    .run(context.tenantId, () =>
      deps.quick.yielding(context.tenantId, QUICK_MS, () => sendNow(deps, job, context)),
    )
    .catch((cause) => (cause instanceof AppError ? { kind: 'stopped' } : Promise.reject(cause)))

const sendNow = async (
  { egress, sealer, times, failpoints, delivered, tracer }: DeliveryDeps,
  job: Job,
  context: LaneContext,
): Promise<DeliveryOutcome> => {
  await failpoints('delivery.sending')
  const tooLate = context.elapsed() > times.leaseMs - times.deadlineMs - times.marginMs
  const { endpoint, event } = job
  const secrets = job.secrets.map((sealed) => sealer.open(sealed, secretRow(context.tenantId)))
  const message = { id: event.id, at: new Date(), body: eventBody(event, context.tenantId) }
  if (tooLate || !context.begin()) return { kind: 'stopped' }
  const sending = { url: endpoint.url, message, secrets, deadlineMs: times.deadlineMs }
  const outcome = await inSpan(
    tracer,
    { name: 'webhook delivery', facts: { record: event.id } },
    () => deliver(egress, sending, context.signal),
    ({ kind }) => ({ outcome: kind, isFailure: kind === 'failed' }),
  )
  delivered?.(outcome.kind)
  await failpoints('delivery.sent')
  return outcome
}

interface Settling extends Sent {
  gate: Gate
  work: Work
}

const settle = (
  { times }: DeliveryDeps,
  { gate, work, job, outcome }: Settling,
  read: Read,
): Decision<void> => {
  const { endpoint: current, event } = read
  if (!current || !event) return { reply: undefined, effects: requeueDelivery(work, gate.now) }
  // The endpoint was replaced in the meantime: a failure of the old one does not count against the
  // new.
  const stale = current.id !== job.endpoint.id && outcome.kind !== 'accepted'
  const delivered = { endpoint: current, event, now: gate.now, times, chance: Math.random() }
  const after = afterDelivery(delivered, stale ? { kind: 'stopped' } : outcome)
  const writes: Query[] = [saveEvent(event.id, after.event)]
  if (after.endpoint !== current && current.id === job.endpoint.id)
    writes.push(saveEndpoint(after.endpoint))
  if (outcome.kind === 'failed') writes.push(tooMany(times, gate))
  const next = nextAt(event, after, read)
  return {
    reply: undefined,
    effects: {
      writes,
      ...(next ? requeueDelivery(work, later(next, gate.now)) : endDelivery(work)),
      ...audit(current, after),
    },
  }
}

const tooMany = ({ keepDeadMs }: WebhookTimes, { now }: Gate): Query =>
  giveUpEvents({
    beyond: outboxLimits.waiting,
    reason: 'too many events are waiting',
    expiresAt: new Date(now.getTime() + keepDeadMs),
  })

/** When the lane must check again; undefined if nothing is waiting. */
const nextAt = (
  { next_at }: PendingEvent,
  after: AfterDelivery,
  { following, beside }: Read,
): Date | undefined => {
  const waits = after.event.state === 'pending' ? after.event.nextAt : undefined
  // Events for an endpoint just disabled are given up at once, not when they would have been due.
  if (after.endpoint.status === 'disabled') return next_at
  const other = waits ? beside : following
  const first =
    waits && other
      ? new Date(Math.min(waits.getTime(), other.next_at.getTime()))
      : (waits ?? other?.next_at)
  return first && later(first, after.endpoint.held_until)
}

const audit = (before: Endpoint, { endpoint }: AfterDelivery): Effects =>
  before.status === 'active' && endpoint.status === 'disabled'
    ? {
        audit: {
          operation: 'webhook.disabled',
          refId: endpoint.id,
          detail: { ...endpointTrace(endpoint.url), reason: endpoint.disabled_reason },
        },
      }
    : {}
