/** What the operations of an engagement share. */
import { engagementSaved } from '#decisions/growth/engagement-writes'
import { endByHand, type underWay } from '#decisions/growth/send-work'
import type { TakenBack } from '#decisions/growth/take-back'
import type {
  EngagedPost,
  Engagement,
  EngagementDecision,
} from '#domain/growth/drafting/engagement'
import { decidedOn } from '#domain/growth/drafting/engagement-moves'
import { engagementAnswer, engagementView } from '#domain/growth/drafting/engagement-view'
import type { GrowthChannel } from '#domain/growth/drafting/growth-channel'
import { fail, found } from '#kernel/errors'
import type { Network } from '#port/network/network'
import { resolvePending } from '#store/engine/idempotency'
import { type Effects, merge } from '#store/engine/letter'
import type { Loaded } from '#store/engine/load'
import type { CommandContext } from '../../engine/call.ts'
import { deciderOf, requirePersonFor } from './author.ts'

export const requireEngagement = (engagement: Engagement | undefined): Engagement =>
  found(engagement, 'no such engagement')

export const engagementRef = ({ id }: Pick<Engagement, 'id'>) =>
  ({ sendable: 'engagement', record_id: id }) as const

export const engagementReply = (engagement: Engagement) => ({
  engagement: engagementView(engagement),
})

export const saveEngagementReply = (
  engagement: Engagement,
  effects: Effects = {},
  before = engagement,
) => ({
  reply: engagementReply(engagement),
  effects: {
    ...effects,
    writes: [...engagementSaved(before, engagement), ...(effects.writes ?? [])],
  },
})

/** The engagement with the caller's decision on it. */
export const withEngagementDecision = (
  context: CommandContext,
  what: EngagementDecision['what'],
  engagement: Engagement,
): Engagement => {
  requirePersonFor(context, engagement)
  return decidedOn(engagement, what, deciderOf(context))
}

export const requireNetwork = (
  { networks }: Pick<CommandContext, 'networks'>,
  { network }: EngagedPost,
): Network =>
  networks.named(network) ??
  fail('conflict', `the network ${network} is no longer supported`, {
    reason: 'missing_prerequisite',
  })

/** The format rules: the network's, and those of the channel for replies. */
export const ruleOn = (
  { limits: { measure, maxLength } }: Network,
  channel: GrowthChannel | undefined,
) => ({
  measure,
  maxLength,
  channel,
})

/** Saves an engagement that was taken back, and ends its send. */
export const saveTakenBackEngagement = (
  before: Engagement,
  { next, effects, answers }: TakenBack<Engagement>,
) => ({ ...saveEngagementReply(next, effects, before), answers })

interface ByHand {
  underway: Loaded<ReturnType<typeof underWay>>
  now: Date
}

/**
 * An engagement that a person settles as executed. Ends what the machine was doing about it, and
 * answers whoever waits for it.
 */
export const byHand = (before: Engagement, engagement: Engagement, { underway, now }: ByHand) => {
  const body = engagementAnswer(engagement)
  const effects = merge(endByHand(underway, { state: 'posted', now }), {
    writes: [resolvePending(engagement.id, 200, body)],
  })
  return {
    ...saveEngagementReply(engagement, effects, before),
    answers: [{ refId: engagement.id, with: { status: 200, body } }],
  }
}
