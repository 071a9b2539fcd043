import type { inbound } from '#contract/operator/inbound'
import {
  ARRIVAL_TIMES,
  type ArrivalContext,
  newChannelMessage,
  takeArrival,
  tooSoon,
} from '#decisions/agent/channel-arrivals'
import { requirePaid } from '#decisions/agent/paying'
import { runPrompt } from '#decisions/agent/schedules'
import { into, startUnattended } from '#decisions/agent/unattended'
import type { ChannelConnection } from '#domain/agent/channel/channel'
import { notDelivered } from '#domain/agent/channel/connection-health'
import type { ArrivedMessage } from '#domain/agent/channel/message'
import type { ChannelReply } from '#domain/agent/channel/reply'
import { isUnderWay, markUndelivered } from '#domain/agent/channel/undelivered'
import { openJobLimits } from '#domain/agent/job/limits'
import { takesPosts, type WebhookRule, webhookRuleLimits } from '#domain/agent/trigger/webhook-rule'
import { fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { channelConnectionPart, saveChannelConnection } from '#store/agent/channel-connections'
import { arrivalFacts, memberOfSender } from '#store/agent/channel-messages'
import { repliesPart, saveReply } from '#store/agent/channel-replies'
import { type TurnFacts, turnFacts } from '#store/agent/conversations'
import { inboundFacts, insertInbound } from '#store/agent/inbound'
import { saveWebhookRule, webhookRulePart } from '#store/agent/webhook-rules'
import type { Gate } from '#store/engine/letter'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'

type All = Handlers<typeof inbound>

const RETRY_AFTER = 30

const noRule = (): never => fail('not_found', 'no such webhook rule')

/**
 * Throws `not_found` if the provider's confirmation was withdrawn, or the workspace is about to be
 * deleted: the sender is told no more than any stranger.
 */
const requireConnection = (
  connection: ChannelConnection | undefined,
  { deletesAt }: Pick<Gate, 'deletesAt'>,
): ChannelConnection =>
  connection && connection.status !== 'unverified' && !deletesAt
    ? connection
    : fail('not_found', 'no such channel connection')

const takeMessage = (deciding: ArrivalContext): All['channel'] =>
  loading(
    ({ id, message: { eventIds: events, sender } }) => ({
      connection: channelConnectionPart(id),
      identity: memberOfSender(id, sender.id),
      facts: arrivalFacts({ source: id, events, sender: sender.id }, ARRIVAL_TIMES),
    }),
    async ({ message }, { gate, sql }, { connection: before, identity, facts }) => {
      const { now } = gate
      const connection = requireConnection(before, gate)
      if (facts.is_known)
        return { reply: { outcome: 'known' as const, retryAfter: 0 }, unchanged: true }
      const soon = tooSoon({ facts, now })
      if (soon !== undefined)
        return { reply: { outcome: 'later' as const, retryAfter: soon }, unchanged: true }
      const id = newId()
      const row = newChannelMessage(id, message as ArrivedMessage, { connection, identity, now })
      const result = await takeArrival(
        deciding,
        {
          connection,
          message: row,
          identity,
          events: message.eventIds,
          facts,
          plan: gate.plan,
          now,
        },
        { sql },
      )
      if (result.outcome === 'later')
        return {
          reply: { outcome: 'later' as const, retryAfter: result.retryAfter },
          unchanged: true,
        }
      const { outcome, effects, job, detail } = result
      return {
        reply: { outcome, retryAfter: 0 },
        effects,
        refId: id,
        auditDetail: { connection_id: connection.id, outcome, job_id: job, ...detail },
      }
    },
  )

/** In seconds: when the provider's report on a message that is still on its way can be taken. */
const UNDER_WAY_RETRY_S = 30

const noteUndelivered: All['undelivered'] = loading(
  ({ id, messages }) => ({
    connection: channelConnectionPart(id),
    replies: repliesPart(id, [...new Set(messages.map(({ reply }) => reply))]),
  }),
  ({ messages }, { gate: { now } }, { connection, replies }) => {
    const after = new Map<string, ChannelReply>(replies.map((reply) => [reply.id, reply]))
    let isLater = false
    for (const { reply: id, ...message } of messages) {
      const reply = after.get(id)
      if (!reply) continue
      isLater ||= isUnderWay(reply, message)
      after.set(id, markUndelivered(reply, message, now))
    }
    const changed = replies.flatMap((before) =>
      after.get(before.id) === before ? [] : [after.get(before.id)!],
    )
    const outcome = isLater
      ? ('later' as const)
      : changed.length > 0
        ? ('noted' as const)
        : ('known' as const)
    const reply = { outcome, retryAfter: isLater ? UNDER_WAY_RETRY_S : 0 }
    if (changed.length === 0) return { reply, unchanged: true }
    // While further parts are being sent, the reply itself has no error.
    const error = changed.at(-1)!.error ?? messages.at(-1)!.error
    const writes = [
      ...changed.map((reply) => saveReply(reply)),
      saveChannelConnection(notDelivered(connection!, error, now)),
    ]
    return { reply, effects: { writes }, auditDetail: { replies: changed.map(({ id }) => id) } }
  },
)

interface Posted {
  rule: WebhookRule
  event: string
  body: string
  facts: TurnFacts
  now: Date
}

/** The same event starts only one job. */
const startJob = (models: ArrivalContext['models'], { rule, event, body, facts, now }: Posted) => {
  const { id, name, tools, goal, on_behalf, goal_by } = rule
  const where = into(undefined, {
    title: name,
    origin: 'webhook',
    personId: on_behalf.personId,
    now,
  })
  const taint = [...new Set([...rule.taint, `webhook ${name}`])]
  const wish = {
    kind: 'webhook',
    cause: { kind: 'webhook_rule', id },
    goal,
    tools,
    taint,
    on_behalf,
    goal_by,
    facts,
    now,
  } as const
  const { job, effects } = startUnattended(models, where, { ...wish, untrusted: body })
  const used = { ...rule, received: rule.received + 1, last_at: now }
  const writes = [
    ...(effects.writes ?? []),
    saveWebhookRule(used),
    insertInbound({ source: id, event, job: job.id, now }),
  ]
  return {
    reply: { job: job.id, retryAfter: 0 },
    effects: { ...effects, writes },
    auditDetail: { job_id: job.id },
  }
}

/** In seconds: when a rule that has reached its limit of posts accepts the next one. */
const nextPostIn = (oldest: Date, now: Date): number =>
  Math.max(1, Math.ceil((oldest.getTime() + webhookRuleLimits.withinMs - now.getTime()) / 1_000))

const receive = ({ models, desk }: Pick<ArrivalContext, 'models' | 'desk'>): All['receive'] =>
  loading(
    ({ id, event }) => ({
      rule: webhookRulePart(id),
      seen: inboundFacts(id, event, { since: webhookRuleLimits.withinMs }),
      facts: turnFacts(null, null),
    }),
    async ({ event, body }, { gate }, { rule, seen, facts }) => {
      const { now } = gate
      if (!rule || !takesPosts(rule) || gate.deletesAt) return noRule()
      if (seen.known !== null) return { reply: { job: seen.known, retryAfter: 0 }, unchanged: true }
      await requirePaid(desk, gate.plan, runPrompt(models, rule))
      if (facts.all_jobs >= openJobLimits.ofOthers)
        fail('rate_limited', 'agent_jobs', { retryAfter: RETRY_AFTER })
      if (seen.count < webhookRuleLimits.posts)
        return startJob(models, { rule, event, body, facts, now })
      const writes = [saveWebhookRule({ ...rule, refused: rule.refused + 1 })]
      return {
        reply: { job: null, retryAfter: nextPostIn(seen.oldest!, now) },
        effects: { writes },
        unchanged: true,
      }
    },
  )

export const inboundHandlers = (deciding: ArrivalContext): All => ({
  receive: receive(deciding),
  channel: takeMessage(deciding),
  undelivered: noteUndelivered,
})
