/** What a letter about a job knows, and the decision that an answer makes of it. */
import { toolCaller } from '#decisions/agent/caller'
import { type AroundJob, factsAt, jobEffects } from '#decisions/agent/job-effects'
import type { ToolCaller } from '#decisions/agent/toolbox'
import { Authors, type MessageAuthor, othersIn, withUnknown } from '#domain/agent/job/authors'
import { type JobChange, type JobFacts, taintJob, unchanged } from '#domain/agent/job/change'
import { isOver, type Job } from '#domain/agent/job/job'
import type { Step, StepHead } from '#domain/agent/job/step'
import { CONVERSATION } from '#domain/agent/job/taint'
import { type JobAnswer, stepOf } from '#domain/agent/job/transition'
import { authorsBefore, theseNow } from '#store/agent/authors'
import { type CallerNow, callerNow } from '#store/agent/callers'
import { channelOriginPart } from '#store/agent/channel-replies'
import { jobPart, openTreeOf, orderPart, treeFacts } from '#store/agent/jobs'
import { schedulePart } from '#store/agent/schedules'
import { headsOf, stepPart } from '#store/agent/steps'
import { tenantPart, threadOf } from '#store/agent/thread'
import type { Sql } from '#store/engine/db'
import { type Effects, type Gate, merge } from '#store/engine/letter'
import { loadNow, when } from '#store/engine/load'
import { type Work, workFor } from '#store/engine/work'
import type { Decision } from '../../engine/letter.ts'
import type { AgentDeps } from './deps.ts'

/** A decision after which nothing runs outside the letter. */
type Decided = { decision: Decision<void> }

type Head = Omit<StepHead, 'way'>

/** The letter of a claim or an outcome. */
export interface At extends AroundJob {
  sql: Sql
  gate: Gate
  work: Work
  /** As of now: it may have read more than when it was asked for. */
  job: Job
  facts: JobFacts
  caller: ToolCaller
  /** The caller's present rights. */
  callerNow: CallerNow
  /** Nobody asks for the job any more. */
  isGone: boolean
  /** The authors of what the job is given of its conversation. */
  authors: Authors
  /** The state of the job before this letter. */
  heads: readonly Head[]
  /** Whether it waits for another job of its conversation. */
  isBehind: boolean
  /** The job that a person asked for. */
  goal: string
  /** Model calls that the whole tree has made. */
  treeCalls: number
}

/** `effects`: what the letter changes besides. Without a run, the change says why. */
export interface Begun<Run> {
  change: JobChange
  run?: Run
  effects?: Effects
}

/** What to load of the schedule whose run a job is, with its row of work. */
const runParts = ({ cause }: Job) => {
  const id = cause?.kind === 'schedule' ? cause.id : undefined
  return {
    schedule: when(id !== undefined, schedulePart(id ?? '')),
    scheduleWork: when(id !== undefined, workFor('agent_schedule', id ?? '')),
  }
}

const waitsForChild = ({ state, awaits_kind }: Head): boolean =>
  state === 'waiting' && awaits_kind === 'child'

/** Of the tree of a job: what it shares with its root, and whom its end concerns. */
const familyParts = ({ id, root_id, parent_id, parent_step_id }: Job, heads: readonly Head[]) => ({
  tree: treeFacts(root_id),
  parentJob: when(parent_id !== null, jobPart(parent_id ?? id)),
  parentStep: when(parent_step_id !== null, stepPart(parent_step_id ?? id)),
  below: when(heads.some(waitsForChild), openTreeOf(id)),
})

const NOBODY: CallerNow = { role: null, scopes: [], name: null }

/** The job with all that a letter about it needs; undefined if it is over. */
export const openJob = async (
  { publicUrl }: Pick<AgentDeps, 'publicUrl'>,
  sql: Sql,
  gate: Gate,
  work: Work,
): Promise<At | undefined> => {
  const { job, heads } = await loadNow(sql, {
    job: jobPart(work.ref_id),
    heads: headsOf(work.ref_id),
  })
  if (!job || isOver(job)) return undefined
  const { thread, schedule, order, tree, origin, ...found } = await loadNow(sql, {
    thread: threadOf(job),
    now: callerNow(job.on_behalf),
    order: orderPart(job),
    tenant: tenantPart,
    authors: when(job.message_id !== null || job.parent_id !== null, authorsBefore(job.root_id)),
    ...runParts(job),
    origin: when(job.kind === 'channel' || job.parent_id !== null, channelOriginPart(job.root_id)),
    ...familyParts(job, heads),
  })
  const now = found.now ?? NOBODY
  const authors = await authorsFor(sql, job, found)
  const facts = { ...factsAt(gate.now), thread, schedule }
  // Since it was asked for, its conversation may have got words of people outside: the answer
  // before it, or a summary; and whoever wrote some of it may do less than then.
  const sources = [...(thread?.is_untrusted ? [CONVERSATION] : []), ...authors.sources]
  return {
    sql,
    gate,
    work,
    job: taintJob(unchanged(job, facts), sources).job,
    facts,
    heads,
    authors,
    caller: toolCaller(found.tenant!.id, job.on_behalf, now),
    callerNow: now,
    isGone: !found.now,
    isBehind: order.is_busy,
    next: order.next,
    goal: tree.goal,
    treeCalls: tree.model_calls,
    run: schedule && { schedule, work: found.scheduleWork?.id },
    parent: job.parent_id === null ? undefined : { job: found.parentJob, step: found.parentStep },
    below: (found.below ?? []).filter(({ id }) => id !== job.id),
    channel: found.now && origin && { origin, publicUrl },
  }
}

/** Most conversations belong to one person, about whom everything is known. */
const authorsFor = async (
  sql: Sql,
  { on_behalf }: Job,
  { now, authors }: { now: CallerNow | undefined; authors: (MessageAuthor | null)[] | undefined },
): Promise<Authors> => {
  const others = now ? othersIn(authors ?? [], on_behalf) : []
  const known = others.length > 0 ? (await loadNow(sql, { known: theseNow(others) })).known : []
  return new Authors(withUnknown(others, known), on_behalf, now ?? NOBODY)
}

/** The steps as they are now: one after the other, since they are few. */
export const stepsNow = async ({ sql }: At, heads: readonly { id: string }[]): Promise<Step[]> => {
  const steps: Step[] = []
  for (const { id } of heads) {
    const { step } = await loadNow(sql, { step: stepPart(id) })
    if (step) steps.push(step)
  }
  return steps
}

/** `more`: what the letter changes besides. */
export const jobDecision = (at: At, change: JobChange, ...more: Effects[]): Decided => {
  const { id, kind } = change.job
  // The caller of a direct call may be waiting.
  const answers =
    isOver(change.job) && kind === 'action' ? [{ refId: id, with: 'late' as const }] : []
  const effects = merge(jobEffects(change, at), ...more)
  return { decision: { reply: undefined, effects, answers } }
}

/** The decision that an answer makes. */
export const answerJob = (at: At, answer: JobAnswer, ...more: Effects[]): Decided =>
  jobDecision(at, stepOf(at.job, answer, at.facts), ...more)
