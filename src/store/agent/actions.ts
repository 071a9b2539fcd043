import { approvalOfJob } from './approvals.ts'
import { jobPart } from './jobs.ts'
import { firstStepOf } from './steps.ts'

/** A direct call: its job, its only step, and the approval that it asked for, if any. */
export const actionLoad = (jobId: string) => ({
  job: jobPart(jobId),
  step: firstStepOf(jobId),
  approval: approvalOfJob(jobId),
})
