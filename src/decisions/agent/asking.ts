import { type Approval, approvalUrl, newApproval } from '#domain/agent/job/approval'
import type { Job } from '#domain/agent/job/job'
import type { Step } from '#domain/agent/job/step'
import { newId } from '#kernel/ids'
import type { NewEvent } from '#store/engine/outbox'
import type { News } from './job-events.ts'

interface Asking extends Pick<Approval, 'summary' | 'subject' | 'direct_by' | 'conversation_id'> {
  now: Date
  publicUrl: string
}

interface Question {
  approval: Approval
  news: News
  event: NewEvent
}

/** Asks a person for one call, and reports it. */
export const questionOf = (job: Job, step: Step, { publicUrl, ...said }: Asking): Question => {
  const approval = newApproval(newId(), job, step, said)
  const { id, summary, why, tool_name } = approval
  const url = approvalUrl(publicUrl, id)
  const data = { kind: 'agent', approval_id: id, job_id: job.id, tool_name, summary, url }
  return {
    approval,
    news: {
      type: 'approval.requested',
      data: { id, step: step.number, tool: tool_name, summary, why, url },
    },
    event: { type: 'growth.approval.requested', data, subject: id },
  }
}
