import type { engagementTexts } from '#contract/growth/engagement-texts'
import { underWay } from '#decisions/growth/send-work'
import { requireFirst } from '#domain/growth/drafting/engagement'
import { editEngagement, markDone, reopenEngagement } from '#domain/growth/drafting/engagement-moves'
import { requireRevision } from '#domain/growth/drafting/revision'
import { engagementPart, otherEngagement } from '#store/growth/engagements'
import { channelPart } from '#store/growth/growth-channels'
import { authorOf } from '../author.ts'
import type { Handlers } from '../call.ts'
import { by, byHand, networkOf, refOf, replyOf, ruleOn, save, the } from '../engagement.ts'
import { loading } from '../loading.ts'

export const engagementTextHandlers: Handlers<typeof engagementTexts> = {
  edit: loading(
    ({ id }) => ({ engagement: engagementPart(id), channel: channelPart('replies') }),
    ({ body, revision }, context, { engagement, channel }) => {
      const before = the(engagement)
      requireRevision(before, revision)
      const words = { body, ...ruleOn(networkOf(context, before), channel), by: authorOf(context), now: context.gate.now }
      const next = editEngagement(before, words)
      return next === before ? { reply: replyOf(before), unchanged: true } : save(next, {}, before)
    },
  ),

  reopen: loading(
    ({ id }) => ({ engagement: engagementPart(id), other: otherEngagement(id) }),
    (_, context, { engagement, other }) => {
      const before = the(engagement)
      const next = reopenEngagement(before, context.gate.now)
      if (next === before) return { reply: replyOf(before), unchanged: true }
      requireFirst(before.action, other)
      return save(by(context, 'reopened', next))
    },
  ),

  done: loading(
    ({ id }) => ({ engagement: engagementPart(id), ...underWay(refOf({ id })) }),
    ({ url }, context, { engagement, ...underway }) => {
      const before = the(engagement)
      const { now } = context.gate
      return byHand(before, by(context, 'marked_done', markDone(before, url, now)), { underway, now })
    },
  ),
}
