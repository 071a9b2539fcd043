/** What must hold, said without the functions under test. */
import type { Job } from '#domain/agent/job/job'
import type { Next } from '#domain/agent/job/loop'
import type { Step, StepHead } from '#domain/agent/job/step'
import { callsOfTree } from './family.ts'
import { tools } from './tools.ts'
import { approvalOf, hold, LIMITS, stepsOf, type World } from './world.ts'

const OVER = ['completed', 'failed', 'cancelled']
const OPEN = ['ready', 'asked', 'running', 'waiting']
const DAY_MS = 24 * 3_600_000
const MOST_THOUGHTS = LIMITS.agent_max_steps
const MOST_ACTIVE_MS = 900_000

export const isOver = ({ status }: Job): boolean => OVER.includes(status)
const isOpen = ({ state }: Pick<Step, 'state'>): boolean => OPEN.includes(state)
const isDue = ({ not_before }: StepHead, now: Date): boolean =>
  not_before === null || +not_before <= +now

/** The loop goes on at the first step that is not finished, and never where it must wait. */
export const checkNext = (world: World, job: Job, heads: readonly StepHead[], next: Next) => {
  const open = heads.filter((head) => head.kind === 'tool' && isOpen(head))
  const [first] = open
  const say = (holds: boolean, words: string) => hold(world, holds, `${next.kind}: ${words}`)
  if ('step' in next && next.kind !== 'think') {
    say(next.step.id === first?.id, 'not the first unfinished step')
    const isWaited = next.kind === 'look' || next.kind === 'give_up'
    say(first?.state === (isWaited ? 'waiting' : 'ready'), `a step that is ${first?.state}`)
    say(isDue(next.step, world.now), 'before its time')
    if (isWaited)
      say(
        (next.kind === 'give_up') === (first?.awaits_kind === 'child'),
        `at what is ${first?.awaits_kind}`,
      )
    if (next.kind === 'give_up') say(+world.now - +first!.started_at! >= DAY_MS, 'within a day')
    if (!isWaited)
      say(
        (next.kind === 'execute' ? 'command' : next.kind) === next.step.way,
        `a tool that runs as ${next.step.way}`,
      )
  }
  if (next.kind === 'read') {
    const fit = open.findIndex(
      ({ way, state, not_before }) =>
        way !== 'read' || state !== 'ready' || (not_before !== null && not_before > world.now),
    )
    const most = Math.min(8, fit === -1 ? open.length : fit)
    say(
      next.steps.map(({ id }) => id).join() ===
        open
          .slice(0, most)
          .map(({ id }) => id)
          .join(),
      'not the reads that stand together',
    )
    say(next.steps.length > 0, 'no reads')
  }
  if (next.kind === 'think') checkThink(world, job, heads, next, say)
  if (next.kind === 'park') checkPark(world, heads, next, say)
  if (next.kind === 'end') checkEnding(world, job, { first, heads, end: next.end }, say)
  const isLong = job.active_ms >= MOST_ACTIVE_MS
  if (isLong && next.kind !== 'execute') say(next.kind === 'end', 'after its time is over')
}

export type Say = (holds: boolean, words: string) => void

/** Each job above it keeps one call to conclude. */
const callsLeft = (world: World, job: Job): number =>
  Math.min(
    MOST_THOUGHTS - callsOfTree(world, job) - job.depth,
    (job.most_steps ?? MOST_THOUGHTS) - job.model_calls,
  )

/**
 * Rounds at the end without a new call, a new result, a decision or a doubt; of those that read
 * with new arguments what the same tool had given before, five are let pass.
 */
const idleAtTheEnd = (world: World, job: Job): number => {
  const calls = stepsOf(world, job.id).filter(({ kind }) => kind === 'tool')
  const rounds = [...new Set(calls.map(({ of_step }) => of_step))].map((round) =>
    calls.filter(({ of_step }) => of_step === round),
  )
  const isNew = (one: Step): boolean => {
    const before = calls.filter(
      ({ name, args_hash, of_step }) =>
        name === one.name && args_hash === one.args_hash && of_step! < one.of_step!,
    )
    if (one.state === 'rejected' || one.state === 'unknown') return true
    if (one.args_hash === null) return false
    return (
      before.length === 0 ||
      (one.state === 'done' &&
        !before.some(({ state, result }) => state === 'done' && result!.text === one.result!.text))
    )
  }
  const isVain = (one: Step): boolean => {
    const given = calls.filter(
      ({ name, state, of_step }) =>
        name === one.name && state === 'done' && of_step! < one.of_step!,
    )
    return (
      (one.class === 'read' || one.class === 'outside_read') &&
      one.state === 'done' &&
      given.some(({ result }) => result!.text === one.result!.text)
    )
  }
  const since = (counts: (one: Step) => boolean) =>
    rounds.length - 1 - rounds.findLastIndex((round) => round.some(counts))
  return Math.max(since(isNew), since((one) => isNew(one) && !isVain(one)) - 5)
}

const checkThink = (
  world: World,
  job: Job,
  heads: readonly StepHead[],
  next: Extract<Next, { kind: 'think' }>,
  say: Say,
) => {
  say(!heads.some((head) => isOpen(head) && head.id !== next.step?.id), 'a step is unfinished')
  const left = callsLeft(world, job)
  const idle = idleAtTheEnd(world, job)
  say(left > 0, 'more calls of the model than the plan allows')
  say(idle <= 3, 'after more than three rounds without anything new')
  const isOver = heads.at(-1)?.kind === 'model' && heads.at(-1)?.state === 'done'
  say(idle < 3 || !isOver, 'though it was to conclude')
  say(next.last === (left === 1 || idle === 3), 'only the last call must conclude')
  const call = heads.filter(({ kind }) => kind !== 'tool').at(-1)
  say(
    (call?.state === 'ready') === (next.step !== undefined),
    'a call that failed is repeated in its own step, and no other',
  )
  if (next.step) say(isDue(next.step, world.now), 'before its time')
}

const checkPark = (
  world: World,
  heads: readonly StepHead[],
  { until, status }: Extract<Next, { kind: 'park' }>,
  say: Say,
) => {
  say(+until > +world.now, 'until a time that is over')
  // The clock may have gone back since a time was set.
  say(+until <= +world.now + 2 * DAY_MS, 'for longer than two days')
  const first = heads.find((head) => head.kind === 'tool' && isOpen(head))
  const isChild = first?.state === 'waiting' && first.awaits_kind === 'child'
  const expected = isChild
    ? 'waiting_child'
    : first?.state === 'asked'
      ? 'waiting_approval'
      : 'running'
  say(status === expected, `shown as ${status} while a step is ${first?.state}`)
  if (isChild) say(+until <= +first.started_at! + DAY_MS, 'for longer than a day')
  const times = heads.flatMap((head) => (isOpen(head) ? [head.not_before, head.expires_at] : []))
  const soonest = Math.min(...times.flatMap((time) => (time && +time > +world.now ? +time : [])))
  say(+until <= soonest, 'past the time of a step')
  say(
    first === undefined || first.state === 'asked' || isChild || !isDue(first, world.now),
    'though something can be done',
  )
}

interface Ending {
  first: StepHead | undefined
  heads: readonly StepHead[]
  end: { status: string; error: string | null }
}

const checkEnding = (
  world: World,
  job: Job,
  { first, heads, end: { error } }: Ending,
  say: Say,
) => {
  if (error === 'approval_expired')
    say(first?.state === 'asked' && +first.expires_at! <= +world.now, 'expired before its time')
  if (error === 'max_steps') say(callsLeft(world, job) <= 0 && first === undefined, 'too early')
  if (error === 'deadline')
    say(
      job.active_ms >= MOST_ACTIVE_MS &&
        !(first?.way === 'command' && first.state === 'ready' && isDue(first, world.now)),
      'too early',
    )
  if (error === 'no_progress')
    say(
      idleAtTheEnd(world, job) > 3 ||
        (idleAtTheEnd(world, job) === 3 && heads.at(-1)?.kind === 'model'),
      'though something was new',
    )
  if (error === 'model_failed')
    say(
      heads.filter(({ kind }) => kind === 'model').at(-1)?.state === 'failed',
      'though no thought has failed',
    )
  // The letter of the last word completes a job, no claim does.
  say(
    ['approval_expired', 'max_steps', 'deadline', 'model_failed', 'no_progress'].includes(
      error ?? '',
    ),
    `as ${error}`,
  )
}

const isRead = ({ jobs }: World, { job_id }: Step, source: string): boolean =>
  jobs.get(job_id)!.taint.includes(source)

/** After each step of the history. */
export const checkAll = (world: World) => {
  for (const job of world.jobs.values()) {
    const say = (holds: boolean, words: string) =>
      hold(world, holds, `a job that is ${job.status}: ${words}`)
    const ends = world.ended.filter((id) => id === job.id).length
    say(ends === (isOver(job) ? 1 : 0), `ended ${ends} times`)
    say(isOver(job) === (job.ended_at !== null), 'the time of its end')
    say(world.work.has(job.id) === !isOver(job), 'its row of work')
    say(job.model_calls <= MOST_THOUGHTS, 'calls of the model')
    say(job.held_since === null || job.status === 'queued', 'is held')
    if (!isOver(job)) continue
    say(!stepsOf(world, job.id).some(isOpen), 'an open step')
    say(
      ![...world.approvals.values()].some(
        (one) => one.job_id === job.id && one.status === 'pending',
      ),
      'a pending approval',
    )
  }
  for (const step of world.steps.values()) {
    const approval = approvalOf(world, step.id)
    const isSettled = approval?.status === 'rejected'
    if (isSettled)
      hold(
        world,
        ['rejected', 'cancelled'].includes(step.state),
        `${step.name} is ${step.state} though it was rejected`,
      )
    if (step.state === 'asked')
      hold(world, approval?.status === 'pending', `${step.name} is asked, and nobody is`)
    if (step.state === 'done' && step.kind === 'tool' && step.awaits_kind !== 'child')
      hold(
        world,
        step.untrusted === (tools.get(step.name)!.foreign ? step.name : null),
        `${step.name} gave words of ${step.untrusted}`,
      )
    if (step.kind === 'tool' && step.untrusted !== null && !world.late.has(step.id))
      hold(
        world,
        step.untrusted.split(', ').every((source) => isRead(world, step, source)),
        'a job forgets what it has read',
      )
    if (approval?.status === 'pending')
      hold(world, step.state === 'asked', `${step.name} is ${step.state} before the decision`)
  }
}
