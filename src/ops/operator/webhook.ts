import type { webhook } from '#contract/operator/webhook'
import { TEST_EVENT, webhookTimes } from '#domain/webhook'
import { AppError, fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { Egress } from '#port/egress/egress'
import { EgressRefused } from '#port/egress/target'
import type { Sql } from '#store/db'
import { deliveryWork } from '#store/letter'
import { keptEvent, replayEvent } from '#store/outbox'
import { currentEndpoint, type EndpointRow, putEndpoint, rotateSecret, saveEndpoint } from '#store/webhooks'
import type { CommandContext, Handlers } from '../call.ts'

const shown = ({ url, events, status, disabled_reason, failing_since, previous_until }: EndpointRow) => ({
  webhook: { url, events, status, disabled_reason, failing_since, previous_secret_until: previous_until },
})

const endpointOf = async (sql: Sql): Promise<EndpointRow> => (await currentEndpoint(sql)) ?? fail('not_found', 'no webhook endpoint is set')

const activeEndpoint = async (sql: Sql): Promise<EndpointRow> => {
  const endpoint = await endpointOf(sql)
  return endpoint.status === 'active' ? endpoint : fail('conflict', 'the webhook endpoint is disabled; set it again')
}

const requireCallable = (egress: Egress, url: string): void => {
  try {
    egress.check(url)
  } catch (cause) {
    if (!(cause instanceof EgressRefused)) throw cause
    throw new AppError('invalid_input', cause.message, { details: [{ path: 'url', message: cause.message }] })
  }
}

/** Whatever waits is looked at now. */
const awake = ({ gate, tenantId }: CommandContext) => [deliveryWork(newId(), { tenantId, now: gate.now })]

export const webhookHandlers = (egress: Egress): Handlers<typeof webhook> => ({
  async set({ url, events, secret }, context) {
    requireCallable(egress, url)
    const { now } = context.gate
    const [id, kinds] = [newId(), [...new Set(events)]]
    const set = { id, url, events: kinds, secret: Buffer.from(secret, 'base64'), now }
    const fresh = { status: 'active', disabled_reason: null, failing_since: null, failures: 0, held_until: null } as const
    const row = { ...set, ...fresh, previous_secret: null, previous_until: null, created_at: now, updated_at: now }
    return { reply: shown(row), effects: { writes: [putEndpoint(set)], work: awake(context) }, refId: id }
  },

  async rotate({ secret }, { sql, gate }) {
    const endpoint = await activeEndpoint(sql)
    const previousUntil = new Date(gate.now.getTime() + webhookTimes.rotationMs)
    const write = rotateSecret({ secret: Buffer.from(secret, 'base64'), previousUntil, now: gate.now })
    return { reply: shown({ ...endpoint, previous_until: previousUntil }), effects: { writes: [write] }, refId: endpoint.id }
  },

  async disable(_, context) {
    const endpoint = await endpointOf(context.sql)
    const disabled = { ...endpoint, status: 'disabled', disabled_reason: 'an operator disabled it', updated_at: context.gate.now } as const
    return { reply: shown(disabled), effects: { writes: [saveEndpoint(disabled)], work: awake(context) }, refId: endpoint.id }
  },

  async test(_, { sql }) {
    const { id: refId } = await activeEndpoint(sql)
    const event = { id: newId(), type: TEST_EVENT, data: {}, due: true }
    return { reply: { event_id: event.id }, effects: { events: [event] }, refId }
  },

  async replay({ id }, context) {
    await activeEndpoint(context.sql)
    const event = (await keptEvent(context.sql, id)) ?? fail('not_found', 'no such event, or it is not kept any more')
    return { reply: { event_id: id }, effects: { writes: [replayEvent(event, context.gate.now)], work: awake(context) } }
  },
})
