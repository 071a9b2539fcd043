import type { jobs } from '#contract/agent/jobs'
import { stopJobs } from '#decisions/agent/cancelling'
import { cancelledJob } from '#decisions/agent/job-effects'
import type { ToolBox } from '#decisions/agent/toolbox'
import type { Reader } from '#domain/agent/conversation'
import { isOver, type Job } from '#domain/agent/job/job'
import { traceOf } from '#domain/agent/job/trace'
import { approvalView, jobView, messageView, stepView } from '#domain/agent/job/views'
import { fail, found } from '#kernel/errors'
import { approvalsOf, approvalsOfTree } from '#store/agent/approvals'
import { channelOriginPart } from '#store/agent/channel-replies'
import {
  childrenOf,
  jobPart,
  jobTree,
  listJobs,
  openTreeOf,
  orderPart,
  shownJob,
} from '#store/agent/jobs'
import { answerMessage } from '#store/agent/messages'
import { callsInFlight, shownSteps, stepPart, stepsOfTree } from '#store/agent/steps'
import { decidersPart } from '#store/app/members'
import { merge } from '#store/engine/letter'
import { loadBy, loadNow, when } from '#store/engine/load'
import { type Principal, partyOf, roleOf } from '#store/engine/principal'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import type { Poller } from '../engine/waiters.ts'
import { standing } from './approval/standing.ts'
import { jobEvents } from './job/events.ts'

/** How many characters of a step's result are shown with a job. */
const SHOWN = 4_000

const requireJob = (job: Job | undefined): Job => found(job, 'no such job')

/** A job with everything that belongs to it. */
const whole = (id: string, as: Reader) => ({
  job: shownJob(id, as),
  answer: answerMessage(id),
  children: childrenOf(id),
  steps: shownSteps(id, SHOWN),
  approvals: approvalsOf(id),
  members: decidersPart,
})

interface Deps {
  waiters: Poller
  publicUrl: string
  tools: ToolBox
}

const getting =
  ({ publicUrl, tools }: Deps): Handlers<typeof jobs>['get'] =>
  async ({ id }, { read, principal }) => {
    const { job, answer, steps, approvals, children, members } = await loadBy(
      read,
      whole(id, partyOf(principal)),
    )
    return {
      job: jobView(requireJob(job)),
      answer: answer ? messageView(answer) : null,
      steps: steps.map(stepView),
      approvals: approvals.map((approval) =>
        approvalView(approval, {
          publicUrl,
          taint: requireJob(job).taint,
          ...standing(tools, approval, { principal, members }),
        }),
      ),
      children: children.map(jobView),
    }
  }

export const jobHandlers = (deps: Deps): Handlers<typeof jobs> => ({
  async list({ status, kind, conversationId, ...input }, { read, principal }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(
      await read(
        listJobs({ ...page, status, kind, conversation: conversationId, as: partyOf(principal) }),
      ),
      page.limit,
    )
    return { jobs: rows.map(jobView), nextCursor: next_cursor }
  },

  get: getting(deps),

  async trace({ id }, { read, principal }) {
    const { job, jobs, steps, approvals } = await loadBy(read, {
      job: shownJob(id, partyOf(principal)),
      jobs: jobTree(id),
      steps: stepsOfTree(id),
      approvals: approvalsOfTree(id),
    })
    const of = <T extends { job_id: string }>(all: readonly T[], one: Job) =>
      all.filter(({ job_id }) => job_id === one.id)
    requireJob(job)
    return {
      job: jobView(requireJob(job)),
      spans: jobs.flatMap((one) => traceOf(one, of(steps, one), of(approvals, one))),
    }
  },

  events: jobEvents(deps.waiters),

  cancel: cancelling(deps.publicUrl),
})

const cancelling = (publicUrl: string): Handlers<typeof jobs>['cancel'] =>
  loading(
    ({ id }, { principal }) => ({
      job: shownJob(id, partyOf(principal)),
      tree: openTreeOf(id),
      calls: callsInFlight,
    }),
    async (_, { gate: { now }, lanes, principal, sql }, { tree, calls, ...loaded }) => {
      const job = requireJob(loaded.job)
      requireOwn(job, principal)
      if (isOver(job))
        return {
          reply: { job: jobView(job), in_flight: calls.filter(({ job_id }) => job_id === job.id) },
          unchanged: true,
        }
      const { settled, in_flight } = stopJobs(tree, calls, lanes)
      const { behind, parentJob, parentStep, origin } = await loadNow(sql, around(job))
      // The conversation's next message has been waiting for this job, unless another job is still
      // before it.
      const next = behind.is_busy ? [] : behind.next
      const parent = { job: parentJob, step: parentStep }
      const about = { next, parent, channel: origin && { origin, publicUrl } }
      const cancelled = tree.map((one, index) => cancelledJob(one, now, index === 0 ? about : {}))
      return {
        reply: { job: jobView(cancelled[0]!.job), in_flight },
        effects: merge({ settled }, ...cancelled.map(({ effects }) => effects)),
        answers: cancelled.map((one) => ({ refId: one.job.id, with: 'late' as const })),
      }
    },
  )

/**
 * Who is affected when a job ends: the next message of its conversation, its parent, and the sender
 * who asked in a channel.
 */
const around = (job: Job) => ({
  behind: orderPart(job),
  parentJob: when(job.parent_id !== null, jobPart(job.parent_id ?? job.id)),
  parentStep: when(job.parent_step_id !== null, stepPart(job.parent_step_id ?? job.id)),
  origin: when(job.kind === 'channel', channelOriginPart(job.id)),
})

/** Viewers may cancel only their own jobs; everybody else may cancel any. */
const requireOwn = ({ on_behalf }: Job, principal: Principal): void => {
  if (roleOf(principal) !== 'viewer' || on_behalf.personId === principal.member?.personId) return
  fail(
    'forbidden',
    'the role viewer cannot cancel the jobs of others; it requires owner or editor or approver',
  )
}
