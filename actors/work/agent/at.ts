/** What a letter about a job knows, and how it ends. */
import { toolCaller } from '#decisions/agent/caller'
import { pausedEvent, pauseNotice } from '#decisions/agent/schedules'
import type { ToolCaller } from '#decisions/agent/toolbox'
import { Authors, type MessageAuthor, othersIn, withUnknown } from '#domain/agent/job/authors'
import { isOver, type Job } from '#domain/agent/job/job'
import { dueNow } from '#domain/agent/job/limits'
import type { JobEnd, Next } from '#domain/agent/job/loop'
import type { StepHead } from '#domain/agent/job/step'
import { CONVERSATION } from '#domain/agent/job/taint'
import { ranOut, type Schedule } from '#domain/agent/trigger/schedule'
import { authorsBefore, theseNow } from '#store/agent/authors'
import { type CallerNow, callerNow } from '#store/agent/callers'
import { channelOriginPart } from '#store/agent/channel-replies'
import { jobPart, orderPart } from '#store/agent/jobs'
import { saveSchedule, schedulePart } from '#store/agent/schedules'
import { headsOf } from '#store/agent/steps'
import { type JobThread, tenantPart, threadOf } from '#store/agent/thread'
import type { Sql } from '#store/engine/db'
import type { Effects, Gate } from '#store/engine/letter'
import { loadNow, when } from '#store/engine/load'
import { type Work, workFor } from '#store/engine/work'
import type { Decision } from '../../engine/letter.ts'
import { JobChanges } from './changes.ts'
import type { AgentDeps } from './deps.ts'
import { type Family, familyOf, familyParts, part } from './family.ts'
import { type Telling, tellEnd } from './telling.ts'

/** Nothing runs outside. */
type Decided = { decision: Decision<void> }

/** The letter of a claim, or of an outcome. */
export interface At {
  sql: Sql
  gate: Gate
  work: Work
  changes: JobChanges
  caller: ToolCaller
  /** What the caller may do, as of now. */
  callerNow: CallerNow
  /** Those who wrote what the job is given of its conversation. */
  authors: Authors
  /** Of the job, before this letter. */
  heads: readonly Omit<StepHead, 'way'>[]
  /**
   * Rows of work of the conversation's next jobs, which may begin once this one has ended or waits.
   */
  next: string[]
  /** Of a run: its schedule, and the row of work of its next time. */
  run: { schedule: Schedule; work: string | undefined } | undefined
  family: Family
  /** Of a job that a message of a channel has begun. */
  channel: Telling | undefined
}

/** The schedule whose run a job is, with its row of work. */
const scheduleOf = ({ cause }: Job) => {
  const id = cause?.kind === 'schedule' ? cause.id : undefined
  return {
    schedule: when(id !== undefined, schedulePart(id ?? '')),
    scheduleWork: when(id !== undefined, workFor('agent_schedule', id ?? '')),
  }
}

/**
 * The job with all that a letter about it needs; undefined if it is over. The caller is undefined
 * if nobody asks for it any more.
 */
export const openJob = async (
  { publicUrl }: Pick<AgentDeps, 'publicUrl'>,
  sql: Sql,
  gate: Gate,
  work: Work,
) => {
  const { job, heads } = await loadNow(sql, {
    job: jobPart(work.ref_id),
    heads: headsOf(work.ref_id),
  })
  if (!job || isOver(job)) return undefined
  const found = await loadNow(sql, {
    thread: threadOf(job),
    now: callerNow(job.on_behalf),
    order: orderPart(job),
    tenant: tenantPart,
    authors: when(job.message_id !== null || job.parent_id !== null, authorsBefore(job.root_id)),
    ...scheduleOf(job),
    origin: when(job.kind === 'channel' || job.parent_id !== null, channelOriginPart(job.root_id)),
    ...familyParts(job, heads),
  })
  const changes = new JobChanges(job, found.thread, gate.now)
  const authors = await authorsFor(sql, job, found)
  taintByConversation(changes, { authors, thread: found.thread })
  const run = found.schedule && { schedule: found.schedule, work: found.scheduleWork?.id }
  const family = familyOf(job, found)
  const at = found.now && {
    ...{
      sql,
      gate,
      work,
      changes,
      heads,
      run,
      family,
      authors,
      callerNow: found.now,
      next: found.order.next,
    },
    caller: toolCaller(found.tenant!.id, job.on_behalf, found.now),
    channel: found.origin && { origin: found.origin, publicUrl },
  }
  return { job, heads, order: found.order, changes, run, family, authors, at }
}

/** Most conversations are of one person, about whom all is known. */
const authorsFor = async (
  sql: Sql,
  { on_behalf }: Job,
  { now, authors }: { now: CallerNow | undefined; authors: (MessageAuthor | null)[] | undefined },
): Promise<Authors> => {
  const others = now ? othersIn(authors ?? [], on_behalf) : []
  const known = others.length > 0 ? (await loadNow(sql, { known: theseNow(others) })).known : []
  return new Authors(
    withUnknown(others, known),
    on_behalf,
    now ?? { role: null, scopes: [], name: null },
  )
}

/**
 * Since the job was asked for, its conversation may have got words of people outside: the answer
 * before it, or a summary; and whoever wrote some of it may do less than then.
 */
const taintByConversation = (
  changes: JobChanges,
  { authors, thread }: { authors: Authors; thread: JobThread | undefined },
): void => changes.taint([...(thread?.is_untrusted ? [CONVERSATION] : []), ...authors.sources])

/** The job's row is due again. */
export const again = (
  { changes, work, gate: { now } }: Pick<At, 'changes' | 'work' | 'gate'>,
  at: Date,
): Decided => {
  changes.also({ requeued: [{ id: work.id, runAt: at <= now ? dueNow(changes.job, at) : at }] })
  return { decision: { reply: undefined, effects: changes.effects() } }
}

type Ending = Pick<At, 'changes' | 'work' | 'next' | 'gate' | 'run' | 'family' | 'channel'>

/** Lets the conversation's next jobs begin. */
export const giveWay = ({ changes, next, gate }: Ending): void => {
  if (next.length > 0) changes.also({ requeued: next.map((id) => ({ id, runAt: gate.now })) })
}

/** The job is over. */
export const over = (at: Ending, { end }: Extract<Next, { kind: 'end' }>): Decided => {
  const { changes, work } = at
  const { effects, notice } = at.run ? runEnded(at.run, end, at.gate.now) : {}
  changes.end(end, notice)
  changes.also(effects ?? {})
  tellEnd(at)
  part(at)
  giveWay(at)
  changes.also({ settled: [work.id] })
  const { id, kind } = changes.job
  // Whoever has called directly may be waiting.
  const answers = kind === 'action' ? [{ refId: id, with: 'late' as const }] : []
  return { decision: { reply: undefined, effects: changes.effects(), answers } }
}

/** Counts the end of a run, which may pause its schedule. */
const runEnded = (
  { schedule, work }: NonNullable<At['run']>,
  end: JobEnd,
  now: Date,
): { effects?: Effects; notice?: string } => {
  const after = ranOut(schedule, end, now)
  const writes = after === schedule ? [] : [saveSchedule(after)]
  if (after.status === schedule.status) return { effects: { writes } }
  return {
    notice: pauseNotice(after),
    effects: { writes, events: [pausedEvent(after)], settled: work ? [work] : [] },
  }
}
