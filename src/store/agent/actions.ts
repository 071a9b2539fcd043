import { approvalOfJob } from './approvals.ts'
import { jobPart } from './jobs.ts'
import { firstStepOf } from './steps.ts'

/** A direct call: its job, its one step, and what it has asked, if anything. */
export const actionLoad = (jobId: string) => ({
  job: jobPart(jobId),
  step: firstStepOf(jobId),
  approval: approvalOfJob(jobId),
})
