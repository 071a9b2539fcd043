import type { engagementLife } from '#contract/growth/engagement-life'
import { engagementRemoved, engagementRestored } from '#decisions/growth/engagement-writes'
import { underWay } from '#decisions/growth/send-work'
import { onItsWay, takeBack } from '#decisions/growth/take-back'
import { requireFirst } from '#domain/growth/drafting/engagement'
import {
  editEngagement,
  holdsPost,
  isSameText,
  markDone,
  removedEngagement,
  reopenEngagement,
} from '#domain/growth/drafting/engagement-moves'
import { requireRevision } from '#domain/growth/drafting/item-edits'
import { engagement as moves } from '#domain/growth/sending/engagement'
import { fail } from '#kernel/errors'
import { merge } from '#store/engine/letter'
import { wasSent } from '#store/growth/attempts'
import { deletedEngagementPart, engagementPart, otherEngagement } from '#store/growth/engagements'
import { channelPart } from '#store/growth/growth-channels'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { authorOf } from './shared/author.ts'
import {
  byHand,
  engagementRef,
  engagementReply,
  requireEngagement,
  requireNetwork,
  ruleOn,
  saveTakenBackEngagement,
  withEngagementDecision,
} from './shared/engagement.ts'

/** The engagement, and what may be on its way to the network. */
const withItsWay = (id: string) => ({
  engagement: engagementPart(id),
  ...onItsWay(engagementRef({ id })),
})

export const engagementLifeHandlers: Handlers<typeof engagementLife> = {
  edit: loading(
    ({ id }) => ({ ...withItsWay(id), channel: channelPart('replies') }),
    ({ body, revision }, context, { engagement, channel, ...way }) => {
      const before = requireEngagement(engagement)
      requireRevision(before, revision, 'growth.engagements.get')
      const words = {
        body,
        ...ruleOn(requireNetwork(context, before), channel),
        by: authorOf(context),
        now: context.gate.now,
      }
      // Refuse a text that cannot be used before stopping a send for it.
      if (isSameText(before, words)) return { reply: engagementReply(before), unchanged: true }
      const taken = {
        moves,
        record: before,
        ...way,
        action: 'edit',
        by: authorOf(context),
      } as const
      return saveTakenBackEngagement(
        before,
        takeBack(context, taken, (one) => editEngagement(one, words)),
      )
    },
  ),

  reopen: loading(
    ({ id }) => ({
      ...withItsWay(id),
      other: otherEngagement(id),
      sent: wasSent(engagementRef({ id })),
    }),
    (_, context, { engagement, other, sent, ...way }) => {
      const before = requireEngagement(engagement)
      if (before.status === 'rejected' && sent)
        fail(
          'conflict',
          'cannot reopen: it was rejected in doubt and may be on the network; look there, and create another if it is not',
          { reason: 'in_doubt' },
        )
      if (before.status === 'drafted') return { reply: engagementReply(before), unchanged: true }
      if (!holdsPost(before)) requireFirst(before.action, other)
      const taken = {
        moves,
        record: before,
        ...way,
        action: 'reopen',
        by: authorOf(context),
      } as const
      const { now } = context.gate
      return saveTakenBackEngagement(
        before,
        takeBack(context, taken, (one) =>
          withEngagementDecision(context, 'reopened', reopenEngagement(one, now)),
        ),
      )
    },
  ),

  done: loading(
    ({ id }) => ({ engagement: engagementPart(id), ...underWay(engagementRef({ id })) }),
    ({ url }, context, { engagement, ...underway }) => {
      const before = requireEngagement(engagement)
      const { now } = context.gate
      return byHand(
        before,
        withEngagementDecision(context, 'marked_done', markDone(before, url, now)),
        {
          underway,
          now,
        },
      )
    },
  ),

  remove: loading(
    ({ id }) => ({ ...withItsWay(id), sent: wasSent(engagementRef({ id })) }),
    (_, context, { engagement, sent, ...way }) => {
      const before = requireEngagement(engagement)
      const taken = {
        moves,
        record: before,
        ...way,
        action: 'delete',
        by: authorOf(context),
      } as const
      const known = { wasSent: sent, now: context.gate.now }
      const { next, effects, answers } = takeBack(context, taken, (one) =>
        removedEngagement(one, known),
      )
      return {
        reply: engagementReply(next),
        effects: merge(effects, { writes: engagementRemoved(next) }),
        answers,
      }
    },
  ),

  restore: loading(
    ({ id }) => ({
      engagement: engagementPart(id),
      deleted: deletedEngagementPart(id),
      other: otherEngagement(id),
    }),
    (_, { gate: { now } }, { engagement, deleted, other }) => {
      if (engagement) return { reply: engagementReply(engagement), unchanged: true }
      const next = { ...requireEngagement(deleted), updated_at: now }
      if (holdsPost(next)) requireFirst(next.action, other)
      return { reply: engagementReply(next), effects: { writes: engagementRestored(next) } }
    },
  ),
}
