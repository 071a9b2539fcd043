/** Members who may decide are told of what waits, in the channels that want it. */
import { type Approval, approvalUrl } from '#domain/agent/approval'
import { recipientOf, toApproverText } from '#domain/agent/channel-answer'
import type { OnBehalf } from '#domain/agent/job'
import { type ToldApprover, toldApprovers } from '#store/agent/channel-identities'
import { type Effects, merge } from '#store/engine/letter'
import { replyEffects } from './channel-replies.ts'

/** People who are told at once. */
const MOST_TOLD = 20

export const approversPart = { approvers: toldApprovers(MOST_TOLD) }

interface Telling {
  approvals: readonly Pick<Approval, 'id' | 'summary'>[]
  approvers: readonly ToldApprover[]
  /** Who has asked: a linked sender is told where it asked. */
  by: OnBehalf
  publicUrl: string
  now: Date
}

/** One message for each of them, about all of the calls. */
export const tellApprovers = ({ approvals, approvers, by, publicUrl, now }: Telling): Effects => {
  if (approvals.length === 0) return {}
  const text = toApproverText(approvals.map(({ id, summary }) => ({ summary, url: approvalUrl(publicUrl, id) })))
  const others = approvers.filter(({ id }) => by.kind !== 'channel' || by.id !== id)
  return merge(
    ...others.map(({ connection_id: id, channel, reply_to: replyTo, ...member }) =>
      replyEffects({ connection: { id, channel }, replyTo, recipient: recipientOf(member), text, now }),
    ),
  )
}
