/** What happened in a job, for those who follow it. Pure. */
import { type Approval, approvalUrl } from './approval.ts'
import type { Job } from './job.ts'
import type { Step } from './step.ts'

export interface News {
  type:
    | 'job.status'
    | 'step.started'
    | 'step.ended'
    | 'approval.requested'
    | 'approval.decided'
    | 'message'
  data: Record<string, unknown>
}

export const statusNews = ({ status, error }: Job): News => ({
  type: 'job.status',
  data: { status, error },
})

export const askedNews = (
  { id, tool_name: tool, summary, why }: Approval,
  { number: step }: Pick<Step, 'number'>,
  publicUrl: string,
): News => ({
  type: 'approval.requested',
  data: { id, step, tool, summary, why, url: approvalUrl(publicUrl, id) },
})
