/** The rows that follow from what a letter decides about a job of the agent. */
import type { ChannelOrigin } from '#domain/agent/channel/answer'
import type { Approval } from '#domain/agent/job/approval'
import type { BudgetWarning } from '#domain/agent/job/budget'
import { type JobChange, type JobFacts, newJob, type OutsideCall } from '#domain/agent/job/change'
import { isOver, type Job } from '#domain/agent/job/job'
import { dueNow } from '#domain/agent/job/limits'
import type { News } from '#domain/agent/job/news'
import type { Step } from '#domain/agent/job/step'
import { stepOf } from '#domain/agent/job/transition'
import { pausedEvent, type Schedule } from '#domain/agent/trigger/schedule'
import { newId } from '#kernel/ids'
import { rejectPending, saveApproval } from '#store/agent/approvals'
import { type AgentEvent, eventEffects } from '#store/agent/events'
import { insertJob, type OpenJob, saveJob } from '#store/agent/jobs'
import { useMcpServer } from '#store/agent/mcp-servers'
import { useMemories } from '#store/agent/memories'
import { insertMessages } from '#store/agent/messages'
import { saveSchedule } from '#store/agent/schedules'
import { cancelSteps, insertSteps, saveStep } from '#store/agent/steps'
import { saveSummary } from '#store/agent/summaries'
import { saveThread } from '#store/agent/thread'
import type { Query } from '#store/engine/db'
import { type Effects, merge } from '#store/engine/letter'
import type { NewEvent } from '#store/engine/outbox'
import { newWork } from '../work.ts'
import { answerEffects } from './channel-replies.ts'
import type { Decided } from './toolbox.ts'

/** The job that waits for another one, and its step that does. */
interface Parent {
  job: Job | undefined
  step: Step | undefined
}

/** What the change of a job concerns beside itself. */
export interface AroundJob {
  /** Its row of work, if the letter has claimed that; else one is made where the job goes on. */
  work?: { id: string }
  /** Rows of work of the conversation's next jobs, which may begin once this job ends or waits. */
  next?: readonly string[]
  /** For a run: its schedule, and the row of work for its next time. */
  run?: { schedule: Schedule; work: string | undefined } | undefined
  parent?: Parent | undefined
  /** Open jobs below it. */
  below?: readonly OpenJob[]
  /** Where its answer goes, of a job that a message of a channel has begun. */
  channel?: { origin: ChannelOrigin; publicUrl: string } | undefined
}

export const factsAt = (now: Date): Pick<JobFacts, 'now' | 'newId'> => ({ now, newId })

export const jobEffects = (change: JobChange, around: AroundJob = {}): Effects => {
  const { isNew, news } = change
  const job = { ...change.job, next_event: change.job.next_event + news.length }
  return merge(
    {
      writes: [...writesOf(change), isNew ? insertJob(job) : saveJob(job)],
      events: isOver(job) ? [settledEvent(job)] : [],
      spend: [...change.spend],
    },
    eventEffects(news.map((one, index) => eventOf(change, one, index))),
    { events: change.warnings.map(warningEvent) },
    ...change.outside.map((call) => outsideEffects(change, call)),
    scheduleEffects(change, around),
    toldEffects(change, around),
    familyEffects(change, around),
    workEffects(change, around),
  )
}

/** What happened in a job is numbered. */
const eventOf = (
  { job: { id: job_id, conversation_id, next_event }, facts }: JobChange,
  news: News,
  index: number,
): AgentEvent => ({ ...news, job_id, conversation_id, seq: next_event + index, at: facts.now })

/** For the webhook: the job is over. */
const settledEvent = ({ id, kind, conversation_id, status, error }: Job): NewEvent => ({
  type: 'agent.job.settled',
  data: { job_id: id, kind, conversation_id, status, error },
  subject: id,
})

const warningEvent = (data: BudgetWarning): NewEvent => ({
  type: 'agent.budget.warning',
  data: { ...data },
  subject: null,
})

/** A job that begins, with its row of work, which is due now or then. */
export const startEffects = (job: Job, now: Date, due: Date = now): Effects =>
  jobEffects(newJob(job, factsAt(now), due))

/** All but the job itself. */
const writesOf = (change: JobChange): Query[] => {
  const { facts, steps, added, messages, thread, decided, memoryIds = [], summary } = change
  return [
    ...steps.map(saveStep),
    ...(added.length > 0 ? [insertSteps(added)] : []),
    ...(messages.length > 0 ? [insertMessages(messages)] : []),
    ...(thread && thread !== facts.thread ? [saveThread(thread, facts.now)] : []),
    ...decided.map((one) => saveApproval(one)),
    ...(memoryIds.length > 0 ? [useMemories([...memoryIds], facts.now)] : []),
    ...(summary ? [saveSummary(summary.span, summary)] : []),
    ...calledOff(change),
  ]
}

/** Ends what a job that is cut short still asks for or was about to do. */
const calledOff = ({ job, isNew, steps, facts }: JobChange): Query[] => {
  const { id, status, error } = job
  if (isNew || (status !== 'failed' && status !== 'cancelled')) return []
  const how = error === 'approval_expired' ? 'expiry' : 'cancel'
  const written = steps.map((step) => step.id)
  return [cancelSteps(id, written, facts.now), rejectPending(id, how, facts.now)]
}

/** As the audit names who has called. */
const calledBy = ({ id, on_behalf }: Job, step: number) => ({
  job: id,
  step,
  on_behalf: { kind: on_behalf.kind, id: on_behalf.personId ?? on_behalf.id },
})

const byAgent = ({ id }: Job) => ({ kind: 'agent', id, surface: 'agent' })

/** Records in the audit what has left the workspace. */
const outsideEffects = (
  { job, facts }: JobChange,
  { server, tool, step, outcome }: OutsideCall,
): Effects => ({
  audit: {
    operation: 'agent.mcpServers.call',
    refId: server,
    detail: { tool, outcome, ...calledBy(job, step) },
    by: byAgent(job),
  },
  writes: [useMcpServer(server, facts.now)],
})

/** The end of a run may pause its schedule. */
const scheduleEffects = ({ schedule }: JobChange, { run }: AroundJob): Effects => {
  if (!schedule) return {}
  const writes = [saveSchedule(schedule)]
  if (schedule.status === run?.schedule.status) return { writes }
  return { writes, events: [pausedEvent(schedule)], settled: run?.work ? [run.work] : [] }
}

const toldEffects = ({ job, tells, facts }: JobChange, { channel }: AroundJob): Effects =>
  channel && tells !== undefined
    ? answerEffects(job, { ...channel, text: tells, now: facts.now })
    : {}

/**
 * The end of a job concerns its parent, and calls off what its children still do. None of them runs
 * now: the tree has one concurrency key, and this letter holds it.
 */
const familyEffects = (
  { job, callsOffBelow, facts: { now } }: JobChange,
  { parent, below = [] }: AroundJob,
): Effects => {
  if (!isOver(job)) return callsOffBelow ? calledOffBelow(below, now) : {}
  return merge(calledOffBelow(below, now), parent ? childEnded(parent, job, now) : {})
}

const calledOffBelow = (below: readonly OpenJob[], now: Date): Effects =>
  merge(
    ...below.map((one) => ({
      ...cancelledJob(one, now).effects,
      settled: one.work ? [one.work] : [],
    })),
  )

/** A child is over: its parent has an answer, and goes on at once. */
const childEnded = ({ job, step }: Parent, child: Job, now: Date): Effects =>
  job && !isOver(job) && step?.state === 'waiting'
    ? jobEffects(stepOf(job, { kind: 'child', step, child }, factsAt(now)))
    : {}

/**
 * Cancels a job with all that it asks or was about to do. Its row of work is for the caller to
 * settle.
 */
export const cancelledJob = (
  { work: _, ...before }: OpenJob,
  now: Date,
  around: AroundJob = {},
): { job: Job; effects: Effects } => {
  const end = { status: 'cancelled', error: null } as const
  const change = stepOf(before, { kind: 'end', end }, factsAt(now))
  return { job: change.job, effects: jobEffects(change, around) }
}

const workEffects = (
  { job, givesWay, due, facts: { now } }: JobChange,
  { work, next = [] }: AroundJob,
): Effects => {
  const begun = givesWay || isOver(job) ? next.map((id) => ({ id, runAt: now })) : []
  if (isOver(job)) return { requeued: begun, settled: work ? [work.id] : [] }
  if (!due) return { requeued: begun }
  if (work)
    return { requeued: [...begun, { id: work.id, runAt: due <= now ? dueNow(job, due) : due }] }
  const { id: refId, root_id: root, origin } = job
  return { work: [newWork('agent', { root, refId, origin, runAt: due })] }
}

interface CarriedOut {
  step: Step
  decided: Decided
  approval: Approval | undefined
}

/** What a command has decided. It appears in the audit as the agent's. */
export const commandEffects = (job: Job, { step, decided, approval }: CarriedOut): Effects => {
  const { audit, ...effects } = decided.effects
  if (!audit) return effects
  const approved = approval && { approved_by: approval.decided_by }
  const detail = { ...audit.detail, ...calledBy(job, step.number), ...approved }
  return { ...effects, audit: { ...audit, by: byAgent(job), detail } }
}
