/** Reads what a letter about a job must know. */
import { toolCaller } from '#decisions/agent/caller'
import { factsAt } from '#decisions/agent/job-effects'
import { Authors, type MessageAuthor, othersIn, withUnknown } from '#domain/agent/job/authors'
import { taintJob, unchanged } from '#domain/agent/job/change'
import { isOver, type Job } from '#domain/agent/job/job'
import type { Step } from '#domain/agent/job/step'
import { CONVERSATION } from '#domain/agent/job/taint'
import { authorsBefore, theseNow } from '#store/agent/authors'
import { type CallerNow, callerNow } from '#store/agent/callers'
import { channelOriginPart } from '#store/agent/channel-replies'
import { jobPart, type OpenJob, openTreeOf, orderPart, treeFacts } from '#store/agent/jobs'
import { schedulePart } from '#store/agent/schedules'
import { headsOf, stepPart, theseSteps } from '#store/agent/steps'
import { tenantPart, threadOf } from '#store/agent/thread'
import { type Load, type Loaded, loadNow, when } from '#store/engine/load'
import { workFor } from '#store/engine/work'
import type { At, Head } from './at.ts'
import type { AgentDeps } from './deps.ts'

/** A letter about a job's row of work. */
type About = Pick<At, 'sql' | 'gate' | 'work'>

const jobParts = (id: string) => ({ job: jobPart(id), heads: headsOf(id) })

/** What to load of the schedule whose run a job is, with its row of work. */
const runParts = ({ cause }: Job) => {
  const id = cause?.kind === 'schedule' ? cause.id : undefined
  return {
    schedule: when(id !== undefined, schedulePart(id ?? '')),
    scheduleWork: when(id !== undefined, workFor('agent_schedule', id ?? '')),
  }
}

/** Of the tree of a job: what it shares with its root, and whom its end concerns. */
const familyParts = ({ id, root_id, parent_id, parent_step_id }: Job) => ({
  tree: treeFacts(root_id),
  parentJob: when(parent_id !== null, jobPart(parent_id ?? id)),
  parentStep: when(parent_step_id !== null, stepPart(parent_step_id ?? id)),
})

/** Records around a job, all found by fields of it that never change. */
const aroundParts = (job: Job) => ({
  thread: threadOf(job),
  now: callerNow(job.on_behalf),
  order: orderPart(job),
  tenant: tenantPart,
  authors: when(job.message_id !== null || job.parent_id !== null, authorsBefore(job.root_id)),
  ...runParts(job),
  origin: when(job.kind === 'channel' || job.parent_id !== null, channelOriginPart(job.root_id)),
  ...familyParts(job),
})

const waitsForChild = ({ state, awaits_kind }: Head): boolean =>
  state === 'waiting' && awaits_kind === 'child'

/**
 * What the letter that settles a run reads with its gate. `job`: as it was when the run began.
 * `steps`: those that ran.
 */
export const runningParts = (job: Job, steps: readonly { id: string }[]) => ({
  ...jobParts(job.id),
  ...aroundParts(job),
  steps: theseSteps(steps.map(({ id }) => id)),
})

interface Around extends Loaded<ReturnType<typeof aroundParts>> {
  below: readonly OpenJob[] | undefined
}

/** The letter that settles a run. `steps`: those that ran. */
export type Settling = At & { steps: Step[] }

const NOBODY: CallerNow = { role: null, scopes: [], name: null }

/**
 * The job with all that a letter about it needs; undefined if it is over. `ahead`: what the letter
 * will probably read next, which is read in the same statement.
 */
export const openJob = async <L extends Load = Record<never, never>>(
  deps: Pick<AgentDeps, 'publicUrl'>,
  about: About,
  ahead: (job: Job, heads: readonly Head[]) => L | undefined = () => undefined,
): Promise<{ at: At; ahead: Loaded<L> | undefined } | undefined> => {
  const { job, heads } = await loadNow(about.sql, jobParts(about.work.ref_id))
  if (!job || isOver(job)) return undefined
  const below = when(heads.some(waitsForChild), openTreeOf(job.id))
  const parts = { ...aroundParts(job), below }
  const more = ahead(job, heads)
  const loaded = await loadNow(about.sql, { ...parts, ...more })
  const at = await atOf(deps, about, { job, heads, ...(loaded as Loaded<typeof parts>) })
  return { at, ahead: more && (loaded as Loaded<L>) }
}

/**
 * The same, from records that were read with the gate. While a step of a job runs, none waits for a
 * child: steps go in the model's order.
 */
export const openRunning = async (
  deps: Pick<AgentDeps, 'publicUrl'>,
  about: About,
  { job, heads, ...around }: Loaded<ReturnType<typeof runningParts>>,
): Promise<Settling | undefined> => {
  if (!job || isOver(job)) return undefined
  const at = await atOf(deps, about, { job, heads, ...around, below: undefined })
  return { ...at, steps: around.steps }
}

const atOf = async (
  { publicUrl }: Pick<AgentDeps, 'publicUrl'>,
  about: About,
  {
    job,
    heads,
    thread,
    schedule,
    order,
    tree,
    origin,
    ...found
  }: Around & {
    job: Job
    heads: readonly Head[]
  },
): Promise<At> => {
  const now = found.now ?? NOBODY
  const authors = await authorsFor(about.sql, job, found)
  const facts = { ...factsAt(about.gate.now), thread, schedule }
  // Since it was asked for, its conversation may have got words of people outside: the answer
  // before it, or a summary; and whoever wrote some of it may do less than then.
  const sources = [...(thread?.is_untrusted ? [CONVERSATION] : []), ...authors.sources]
  return {
    ...about,
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
  sql: At['sql'],
  { on_behalf }: Job,
  { now, authors }: { now: CallerNow | undefined; authors: (MessageAuthor | null)[] | undefined },
): Promise<Authors> => {
  const others = now ? othersIn(authors ?? [], on_behalf) : []
  const known = others.length > 0 ? (await loadNow(sql, { known: theseNow(others) })).known : []
  return new Authors(withUnknown(others, known), on_behalf, now ?? NOBODY)
}

/** The steps as they are now. */
export const stepsNow = async (
  { sql }: Pick<At, 'sql'>,
  heads: readonly { id: string }[],
): Promise<Step[]> => (await loadNow(sql, { steps: theseSteps(heads.map(({ id }) => id)) })).steps
