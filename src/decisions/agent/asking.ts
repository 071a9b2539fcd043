/** People are asked about calls of tools, and those who may decide are told. */
import { type Approval, approvalUrl } from '#domain/agent/job/approval'
import { insertApprovals } from '#store/agent/approvals'
import { type Effects, merge } from '#store/engine/letter'
import { type Telling, tellApprovers } from './channel-approvers.ts'

/** For the webhook: a call was decided, or somebody has made it needless. */
export const decidedEvent = ({ id, job_id, tool_name, status, decided_how, edited }: Approval) => ({
  type: 'agent.approval.decided',
  data: { approval_id: id, job_id, tool_name, status, decided_how, edited },
  subject: id,
})

interface Asking extends Omit<Telling, 'approvals'> {
  approvals: readonly Approval[]
}

export const askEffects = (asking: Asking): Effects => {
  const { approvals, publicUrl } = asking
  if (approvals.length === 0) return {}
  const events = approvals.map(({ id, job_id, tool_name, summary }) => ({
    type: 'growth.approval.requested',
    data: {
      kind: 'agent',
      approval_id: id,
      job_id,
      tool_name,
      summary,
      url: approvalUrl(publicUrl, id),
    },
    subject: id,
  }))
  return merge({ writes: [insertApprovals(approvals)], events }, tellApprovers(asking))
}
