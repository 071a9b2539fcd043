/** Tells members who may decide what waits for a decision, in the channels that ask for it. */
import { recipientOf, toApproverText } from '#domain/agent/channel/answer'
import { type Approval, approvalUrl } from '#domain/agent/job/approval'
import type { OnBehalf } from '#domain/agent/job/job'
import type { Role } from '#kernel/roles'
import { type ToldApprover, toldApprovers } from '#store/agent/channel-identities'
import { type Effects, merge } from '#store/engine/letter'
import { replyEffects } from './channel-replies.ts'

/** The most people who are told at once. */
const MOST_TOLD = 20

export const approversPart = { approvers: toldApprovers(MOST_TOLD) }

export interface Telling {
  approvals: readonly Pick<Approval, 'id' | 'summary' | 'tool_name'>[]
  approvers: readonly ToldApprover[]
  /** Who can decide about a call of the tool. */
  roles(tool: string): readonly Role[]
  /** Who asked. A linked sender is told where it asked, not again here. */
  by: OnBehalf
  publicUrl: string
  now: Date
}

/** One message for each of them, about all the calls that they can decide. */
export const tellApprovers = ({
  approvals,
  approvers,
  roles,
  by,
  publicUrl,
  now,
}: Telling): Effects => {
  if (approvals.length === 0) return {}
  const others = approvers.filter(({ id }) => by.kind !== 'channel' || by.id !== id)
  return merge(
    ...others.map(({ connection_id: id, channel, reply_to: replyTo, role, ...member }) => {
      const theirs = approvals.filter(({ tool_name: tool }) => roles(tool).includes(role))
      if (theirs.length === 0) return {}
      const text = toApproverText(
        theirs.map((one) => ({ summary: one.summary, url: approvalUrl(publicUrl, one.id) })),
      )
      return replyEffects({
        connection: { id, channel },
        replyTo,
        recipient: recipientOf(member),
        text,
        now,
      })
    }),
  )
}
