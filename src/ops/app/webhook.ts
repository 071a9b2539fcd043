import type { webhook } from '#contract/app/webhook'
import { deliveryWork } from '#decisions/app/delivery'
import type { LiveLanes } from '#decisions/deciding'
import {
  changedEndpoint,
  type Endpoint,
  endpointTrace,
  hostOfUrl,
  newEndpoint,
  subjectOf,
  TEST_EVENT,
  webhookTimes,
} from '#domain/app/webhook'
import { AppError, fail, found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { Sealer } from '#kernel/sealer'
import type { Egress } from '#port/egress/egress'
import { EgressRefused } from '#port/egress/target'
import { newWebhookSecret } from '#port/webhook'
import {
  endpointOverview,
  endpointPart,
  putEndpoint,
  rotateSecret,
  type StoredEndpoint,
  saveEndpoint,
  secretRow,
  updateEndpoint,
} from '#store/app/webhooks'
import { loadBy, loadNow } from '#store/engine/load'
import {
  keptEvent,
  loggedEvent,
  loggedEvents,
  nextEvent,
  replayEvent,
  waitingEventCount,
} from '#store/engine/outbox'
import { type Principal, roleOf } from '#store/engine/principal'
import { type Work, workOfKinds } from '#store/engine/work'
import type { CommandContext, Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'

const ifFuture = (at: Date | null, now: Date): Date | null => (at && at > now ? at : null)

const webhookView = (
  endpoint: StoredEndpoint,
  { waiting, now }: { waiting: number; now: Date },
) => {
  const { url, events, status, disabled_reason, failing_since, created_at, updated_at } = endpoint
  const [held_until, previous_secret_until] = [
    ifFuture(endpoint.held_until, now),
    ifFuture(endpoint.previous_until, now),
  ]
  const health = {
    status,
    disabled_reason,
    failing_since,
    held_until,
    previous_secret_until,
    waiting,
  }
  return { webhook: { url, host: hostOfUrl(url), events, ...health, created_at, updated_at } }
}

const noneSet = (): never => fail('not_found', 'no webhook endpoint is set')

const NOT_KEPT = 'no such event, or it is no longer kept'

const requireActive = ({ status }: Endpoint): unknown =>
  status === 'active' ||
  fail('conflict', 'the webhook endpoint is disabled', { reason: 'wrong_state' })

const requireCallable = (egress: Pick<Egress, 'check'>, url: string): void => {
  try {
    egress.check(url)
  } catch (cause) {
    if (!(cause instanceof EgressRefused)) throw cause
    throw new AppError('invalid_input', cause.message, {
      details: [{ path: 'url', message: cause.message }],
    })
  }
}

/** Work that delivers waiting events now. */
const deliverNow = ({ gate, tenantId }: CommandContext) => [
  deliveryWork({ tenantId, now: gate.now }),
]

const kindsOf = <K extends string>(events: K[]): K[] => [...new Set(events)]

/** What the audit keeps of an endpoint that was set. */
const traceOf = ({ url, events }: Endpoint) => ({ ...endpointTrace(url), events })

const disabledBy = ({ kind }: Principal): string =>
  kind === 'system' ? 'an operator disabled it' : 'an owner disabled it'

/** A new secret: in the clear for the answer, and sealed for the row. */
const newSecret = (sealer: Sealer, tenantId: string) => {
  const secret = newWebhookSecret()
  return { secret, sealed: sealer.seal(secret, secretRow(tenantId)) }
}

/** The records of most operations here. */
const endpointAndWaiting = () => ({ stored: endpointPart, waiting: waitingEventCount })

interface Deps {
  egress: Pick<Egress, 'check'>
  sealer: Sealer
}

type All = Handlers<typeof webhook>

const set = ({ egress, sealer }: Deps): All['set'] =>
  loading(
    () => ({ waiting: waitingEventCount }),
    ({ url, events = [] }, context, { waiting }) => {
      requireCallable(egress, url)
      const { now } = context.gate
      const endpoint = newEndpoint({ id: newId(), url, events: kindsOf(events), now })
      const { secret, sealed } = newSecret(sealer, context.tenantId)
      const reply = {
        ...webhookView({ ...endpoint, previous_until: null, created_at: now }, { waiting, now }),
        secret,
      }
      const effects = { writes: [putEndpoint(endpoint, sealed)], work: deliverNow(context) }
      return { reply, effects, refId: endpoint.id, auditDetail: traceOf(endpoint) }
    },
  )

const update = ({ egress }: Pick<Deps, 'egress'>): All['update'] =>
  loading(endpointAndWaiting, (input, context, { stored, waiting }) => {
    const [before, { now }] = [stored ?? noneSet(), context.gate]
    const { url = before.url, events = before.events } = input
    if (input.url !== undefined) requireCallable(egress, input.url)
    const endpoint = changedEndpoint(before, {
      id: newId(),
      url,
      events: kindsOf<string>(events),
      now,
    })
    const effects = { writes: [updateEndpoint(endpoint)], work: deliverNow(context) }
    const reply = webhookView({ ...before, ...endpoint }, { waiting, now })
    return { reply, effects, refId: endpoint.id, auditDetail: traceOf(endpoint) }
  })

const rotate = ({ sealer }: Pick<Deps, 'sealer'>): All['rotate'] =>
  loading(endpointAndWaiting, (_, { gate: { now }, tenantId }, { stored, waiting }) => {
    const endpoint = stored ?? noneSet()
    requireActive(endpoint)
    const { secret, sealed } = newSecret(sealer, tenantId)
    const previous_until = new Date(now.getTime() + webhookTimes.rotationMs)
    const reply = {
      ...webhookView({ ...endpoint, previous_until, updated_at: now }, { waiting, now }),
      secret,
    }
    return {
      reply,
      effects: { writes: [rotateSecret({ secret: sealed, previousUntil: previous_until, now })] },
      refId: endpoint.id,
    }
  })

/**
 * The event that is being sent, unless it was about to be: that is put back, and not sent. A
 * workspace sends one at a time, the first that is due.
 */
const onTheWire = (
  lanes: LiveLanes,
  deliveries: readonly Work[],
  first: { id: string } | undefined,
) => {
  const sending = deliveries.find(({ state }) => state === 'running')
  if (!sending || !first) return []
  if (lanes.recall(({ id }) => id === sending.id && !lanes.hasBegun(id)).length > 0) return []
  const since = new Date(sending.lease_until!.getTime() - webhookTimes.leaseMs)
  return [{ event_id: first.id, origin: 'manual' as const, since }]
}

const get: All['get'] = async (_, { read, principal }) => {
  const { url, ...health } = (await read(endpointOverview))[0] ?? noneSet()
  return {
    webhook: { url: roleOf(principal) === 'owner' ? url : null, host: hostOfUrl(url), ...health },
  }
}

const disable: All['disable'] = loading(
  () => ({ ...endpointAndWaiting(), deliveries: workOfKinds(['delivery']), first: nextEvent() }),
  (_, context, { stored, waiting, deliveries, first }) => {
    const [endpoint, { now }] = [stored ?? noneSet(), context.gate]
    const in_flight = onTheWire(context.lanes, deliveries, first)
    if (endpoint.status === 'disabled')
      return {
        reply: { ...webhookView(endpoint, { waiting, now }), in_flight },
        refId: endpoint.id,
      }
    const disabled = {
      ...endpoint,
      status: 'disabled',
      disabled_reason: disabledBy(context.principal),
      updated_at: now,
    } as const
    const effects = { writes: [saveEndpoint(disabled)], work: deliverNow(context) }
    const reply = { ...webhookView(disabled, { waiting, now }), in_flight }
    return { reply, effects, refId: endpoint.id, auditDetail: endpointTrace(endpoint.url) }
  },
)

const test: All['test'] = loading(
  () => ({ stored: endpointPart }),
  (_, { gate }, { stored }) => {
    const endpoint = stored ?? noneSet()
    requireActive(endpoint)
    const [id, type] = [newId(), TEST_EVENT]
    const waits = {
      state: 'pending',
      attempts: 0,
      last_error: null,
      next_at: gate.now,
      expires_at: null,
    } as const
    const reply = { event: { id, type, subject: null, ...waits, created_at: gate.now } }
    return { reply, effects: { events: [{ id, type, data: {}, due: true }] }, refId: endpoint.id }
  },
)

const replay: All['replay'] = loading(
  () => ({ stored: endpointPart }),
  async ({ id }, context, { stored }) => {
    const [endpoint, { now }] = [stored ?? noneSet(), context.gate]
    // After the gate: the sweep deletes expired events under the lock that the gate may have waited
    // for.
    const { kept } = await loadNow(context.sql, { kept: keptEvent(id) })
    const { data, ...event } = found(kept, NOT_KEPT)
    requireActive(endpoint)
    const waits = {
      subject: subjectOf(data),
      state: 'pending',
      attempts: 0,
      next_at: now,
      expires_at: null,
    } as const
    const reply = { event: { ...event, ...waits } }
    return {
      reply,
      effects: {
        writes: [replayEvent({ id, subject: waits.subject }, now)],
        work: deliverNow(context),
      },
    }
  },
)

export const webhookHandlers = (deps: Deps): All => ({
  get,
  set: set(deps),
  update: update(deps),
  rotate: rotate(deps),
  disable,
  test,

  async events({ state, type, ...rest }, { read }) {
    const page = pageOf(rest)
    const { events, endpoint } = await loadBy(read, {
      events: loggedEvents({ ...page, state, type }),
      endpoint: endpointPart,
    })
    const { rows, next_cursor } = pageResult(events, page.limit)
    return { events: rows, endpoint: endpoint?.status ?? null, next_cursor }
  },

  async event({ id }, { read }) {
    const { event } = await loadBy(read, { event: loggedEvent(id) })
    return { event: found(event, NOT_KEPT) }
  },

  replay,
})
