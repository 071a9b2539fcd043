/** The lane of every kind of work. */
import type { AnyRepeatableLane, AnyUnrepeatableLane, Ending } from '#actors/engine/lane'
import { channelCheckLane } from '#actors/work/agent/channel-check'
import { channelFetchLane } from '#actors/work/agent/channel-fetch'
import { channelReplyLane } from '#actors/work/agent/channel-reply'
import { type AgentDeps, MODEL_TURN_MS } from '#actors/work/agent/deps'
import { ingestLane } from '#actors/work/agent/ingest'
import { agentLane } from '#actors/work/agent/lane'
import { mcpLookLane } from '#actors/work/agent/mcp-look'
import { scheduleLane } from '#actors/work/agent/schedules'
import { deliveryLane } from '#actors/work/app/delivery'
import { generationLanes } from '#actors/work/growth/draft-generations'
import { marksLane } from '#actors/work/growth/marks'
import { mentionsLane } from '#actors/work/growth/mentions'
import { metricsLane } from '#actors/work/growth/metrics'
import { postedReadLane } from '#actors/work/growth/posted-read'
import { reconcileLane } from '#actors/work/growth/reconcile'
import { renewalLane } from '#actors/work/growth/renewal'
import { weeklyLane } from '#actors/work/growth/report-generation'
import { ruleLanes } from '#actors/work/growth/rules'
import { sendLane } from '#actors/work/growth/send'
import { watchLane } from '#actors/work/growth/watch'
import type { WorkKind } from '#contract/work'
import type { McpSessions } from '#decisions/agent/mcp-session'
import { type KindWith, kindsOfWork } from '#decisions/work'
import { connectionLimits } from '#domain/agent/channel/connection'
import { webhookTimes as usualWebhookTimes, type WebhookTimes } from '#domain/app/webhook'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import type { Failpoints } from '#kernel/failpoint'
import { FairLimit } from '#kernel/fair-limit'
import type { Sealer } from '#kernel/sealer'
import type { Tracer } from '#kernel/trace'
import type { ChannelAdapters } from '#port/channel/registry'
import type { Egress } from '#port/egress/egress'
import type { Drafter } from '#port/model/drafter'
import type { Networks } from '#port/network/registry'
import type { Texts } from '#port/texts/texts'
import type { Meters } from './metrics/meters.ts'

const GENERATION_DEADLINE_MS = 170_000
/**
 * How many calls of models a process makes at once, granted to tenants round-robin. Everything that
 * a tenant can run may wait: its generation, and the thoughts of its agent.
 */
const MODEL_LIMIT = {
  name: 'model call',
  total: 8,
  withinMs: MODEL_TURN_MS,
  bound: 1 + kindsOfWork.agent.atOnce!.manual + kindsOfWork.agent.atOnce!.automatic,
}

/**
 * How many documents a process reads at once. Each has at most a megabyte, and a tenant reads one
 * at a time.
 */
const READING = { name: 'reading of documents', total: 4, bound: 1, withinMs: 30_000 }

/**
 * How many messages of channels a process fetches text or files for at once. A tenant does so for
 * four messages at a time.
 */
const FETCHING = { name: 'fetching of messages', total: 8, bound: 5, withinMs: 30_000 }

/** How many texts a process looks things up for at once. A tenant does so for one at a time. */
const MARKING = { name: 'looking up of marks', total: 16, bound: 1, withinMs: 30_000 }

/**
 * How many requests to webhook endpoints a process has open at once, and how many of these are
 * quick. Each tenant sends one at a time.
 */
const DELIVERIES = { name: 'delivery', total: 2_048, bound: 1, withinMs: 5_000 }
const QUICK_DELIVERIES = { ...DELIVERIES, total: 256 }

/** How many messages to channels a process sends at once. A connection sends one at a time. */
const REPLIES = { name: 'reply', total: 256, bound: connectionLimits.connections, withinMs: 30_000 }

interface LaneParts {
  networks: Networks
  egress: Egress
  fetchAllow: readonly string[]
  failpoints: Failpoints
  drafter: Drafter
  sealer: Sealer
  mcp: McpSessions
  channels: ChannelAdapters
  texts: Texts
  agent: Omit<AgentDeps, 'failpoints' | 'modelCalls'>
  times?: SendTimes | undefined
  webhookTimes?: WebhookTimes | undefined
  meters?: Pick<Meters, 'sent' | 'delivered'> | undefined
  tracer?: Tracer | undefined
}

/**
 * By the table, rows of these kinds become due again when their process has died. Their lanes
 * cannot decide this; the lanes of all other kinds must.
 */
type Repeatable = KindWith<'orphaned', 'requeued'>
type Settling<Kind> = Kind extends Repeatable ? AnyRepeatableLane : AnyUnrepeatableLane
/**
 * Rows of some kinds end when they fail in vain, and their lanes say how. Rows of the other kinds
 * must go on.
 */
export type Lanes = {
  [Kind in WorkKind]: Kind extends KindWith<'inVain', 'ends'>
    ? Ending<Settling<Kind>>
    : Settling<Kind>
}

const agentLanes = (
  { agent, mcp, channels: adapters, sealer, texts, failpoints }: LaneParts,
  modelCalls: FairLimit,
) => {
  const { db, log, models, desk } = agent
  return {
    agent: agentLane({ ...agent, failpoints, modelCalls }),
    agent_schedule: scheduleLane({ ...agent, failpoints }),
    ingest: ingestLane({ db, failpoints, reading: new FairLimit(READING) }),
    mcp_look: mcpLookLane({ sessions: mcp, failpoints, log }),
    channel_check: channelCheckLane({ adapters, sealer, failpoints, log }),
    channel_fetch: channelFetchLane({
      adapters,
      sealer,
      models,
      desk,
      log,
      failpoints,
      fetching: new FairLimit(FETCHING),
    }),
    channel_reply: channelReplyLane({
      adapters,
      sealer,
      log,
      failpoints,
      texts,
      open: new FairLimit(REPLIES),
    }),
  }
}

const growthLanes = (
  { networks, fetchAllow, failpoints, drafter, times = sendTimes, meters, tracer }: LaneParts,
  modelCalls: FairLimit,
) => {
  const sending = { networks, times, failpoints, sent: meters?.sent, tracer }
  return {
    send: sendLane(sending),
    reconcile: reconcileLane(sending),
    watch: watchLane({ networks, failpoints }),
    mentions: mentionsLane({ networks, failpoints }),
    metrics: metricsLane({ networks, failpoints }),
    posted_read: postedReadLane({ networks, failpoints }),
    renewal: renewalLane({ networks, failpoints }),
    marks: marksLane({ networks, fetchAllow, failpoints, marking: new FairLimit(MARKING) }),
    weekly_report: weeklyLane(),
    ...generationLanes({
      networks,
      drafter,
      failpoints,
      modelCalls,
      deadlineMs: GENERATION_DEADLINE_MS,
    }),
    ...ruleLanes({ networks, failpoints }),
  }
}

const appLanes = ({
  egress,
  sealer,
  failpoints,
  webhookTimes: times = usualWebhookTimes,
  meters,
  tracer,
}: LaneParts) => ({
  delivery: deliveryLane({
    egress,
    sealer,
    times,
    failpoints,
    delivered: meters?.delivered,
    tracer,
    open: new FairLimit(DELIVERIES),
    quick: new FairLimit(QUICK_DELIVERIES),
  }),
})

/**
 * A kind without a lane does not compile, and neither does one whose lane contradicts the table.
 */
export const lanesOf = (parts: LaneParts): Lanes => {
  const modelCalls = new FairLimit(MODEL_LIMIT)
  return { ...growthLanes(parts, modelCalls), ...agentLanes(parts, modelCalls), ...appLanes(parts) }
}
