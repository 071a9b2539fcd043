/** What must hold, said without the functions under test. */
import type { Approval } from '#domain/agent/job/approval'
import type { Job } from '#domain/agent/job/job'
import type { Next } from '#domain/agent/job/loop'
import type { Step, StepHead } from '#domain/agent/job/step'
import type { TranscriptMessage } from '#domain/agent/job/transcript'
import type { Role } from '#kernel/roles'
import { callsOfTree } from './family.ts'
import { mayRun, temptations, tools } from './tools.ts'
import { approvalOf, FOREIGN, hold, LIMITS, stepsOf, type World } from './world.ts'

const OVER = ['completed', 'failed', 'cancelled']
const OPEN = ['ready', 'asked', 'running', 'waiting']
const DAY_MS = 24 * 3_600_000
const MOST_THOUGHTS = LIMITS.agent_max_steps
const MOST_ACTIVE_MS = 900_000
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-/

const isOver = ({ status }: Job): boolean => OVER.includes(status)
const isOpen = ({ state }: Pick<Step, 'state'>): boolean => OPEN.includes(state)
const isDue = ({ not_before }: StepHead, now: Date): boolean => not_before === null || +not_before <= +now

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
    if (isWaited) say((next.kind === 'give_up') === (first?.awaits_kind === 'child'), `at what is ${first?.awaits_kind}`)
    if (next.kind === 'give_up') say(+world.now - +first!.started_at! >= DAY_MS, 'within a day')
    if (!isWaited) say((next.kind === 'execute' ? 'command' : next.kind) === next.step.way, `a tool that runs as ${next.step.way}`)
  }
  if (next.kind === 'read') {
    const fit = open.findIndex(
      ({ way, state, not_before }) => way !== 'read' || state !== 'ready' || (not_before !== null && not_before > world.now),
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

type Say = (holds: boolean, words: string) => void

/** Each job above it keeps one call to conclude. */
const callsLeft = (world: World, job: Job): number =>
  Math.min(MOST_THOUGHTS - callsOfTree(world, job) - job.depth, (job.most_steps ?? MOST_THOUGHTS) - job.model_calls)

/**
 * Rounds at the end without a new call, a new result, a decision or a doubt; of those that read with new arguments what the same tool had
 * given before, five are let pass.
 */
const idleAtTheEnd = (world: World, job: Job): number => {
  const calls = stepsOf(world, job.id).filter(({ kind }) => kind === 'tool')
  const rounds = [...new Set(calls.map(({ of_step }) => of_step))].map((round) => calls.filter(({ of_step }) => of_step === round))
  const isNew = (one: Step): boolean => {
    const before = calls.filter(
      ({ name, args_hash, of_step }) => name === one.name && args_hash === one.args_hash && of_step! < one.of_step!,
    )
    if (one.state === 'rejected' || one.state === 'unknown') return true
    if (one.args_hash === null) return false
    return (
      before.length === 0 ||
      (one.state === 'done' && !before.some(({ state, result }) => state === 'done' && result!.text === one.result!.text))
    )
  }
  const isVain = (one: Step): boolean => {
    const given = calls.filter(({ name, state, of_step }) => name === one.name && state === 'done' && of_step! < one.of_step!)
    return (
      (one.class === 'read' || one.class === 'outside_read') &&
      one.state === 'done' &&
      given.some(({ result }) => result!.text === one.result!.text)
    )
  }
  const since = (counts: (one: Step) => boolean) => rounds.length - 1 - rounds.findLastIndex((round) => round.some(counts))
  return Math.max(since(isNew), since((one) => isNew(one) && !isVain(one)) - 5)
}

const checkThink = (world: World, job: Job, heads: readonly StepHead[], next: Extract<Next, { kind: 'think' }>, say: Say) => {
  say(!heads.some((head) => isOpen(head) && head.id !== next.step?.id), 'a step is unfinished')
  const left = callsLeft(world, job)
  const idle = idleAtTheEnd(world, job)
  say(left > 0, 'more calls of the model than the plan allows')
  say(idle <= 3, 'after more than three rounds without anything new')
  const isOver = heads.at(-1)?.kind === 'model' && heads.at(-1)?.state === 'done'
  say(idle < 3 || !isOver, 'though it was to conclude')
  say(next.last === (left === 1 || idle === 3), 'only the last call must conclude')
  const call = heads.filter(({ kind }) => kind !== 'tool').at(-1)
  say((call?.state === 'ready') === (next.step !== undefined), 'a call that failed is repeated in its own step, and no other')
  if (next.step) say(isDue(next.step, world.now), 'before its time')
}

const checkPark = (world: World, heads: readonly StepHead[], { until, status }: Extract<Next, { kind: 'park' }>, say: Say) => {
  say(+until > +world.now, 'until a time that is over')
  // The clock may have gone back since a time was set.
  say(+until <= +world.now + 2 * DAY_MS, 'for longer than two days')
  const first = heads.find((head) => head.kind === 'tool' && isOpen(head))
  const isChild = first?.state === 'waiting' && first.awaits_kind === 'child'
  const expected = isChild ? 'waiting_child' : first?.state === 'asked' ? 'waiting_approval' : 'running'
  say(status === expected, `shown as ${status} while a step is ${first?.state}`)
  if (isChild) say(+until <= +first.started_at! + DAY_MS, 'for longer than a day')
  const times = heads.flatMap((head) => (isOpen(head) ? [head.not_before, head.expires_at] : []))
  const soonest = Math.min(...times.flatMap((time) => (time && +time > +world.now ? +time : [])))
  say(+until <= soonest, 'past the time of a step')
  say(first === undefined || first.state === 'asked' || isChild || !isDue(first, world.now), 'though something can be done')
}

interface Ending {
  first: StepHead | undefined
  heads: readonly StepHead[]
  end: { status: string; error: string | null }
}

const checkEnding = (world: World, job: Job, { first, heads, end: { error } }: Ending, say: Say) => {
  if (error === 'approval_expired') say(first?.state === 'asked' && +first.expires_at! <= +world.now, 'expired before its time')
  if (error === 'max_steps') say(callsLeft(world, job) <= 0 && first === undefined, 'too early')
  if (error === 'deadline')
    say(job.active_ms >= MOST_ACTIVE_MS && !(first?.way === 'command' && first.state === 'ready' && isDue(first, world.now)), 'too early')
  if (error === 'no_progress')
    say(idleAtTheEnd(world, job) > 3 || (idleAtTheEnd(world, job) === 3 && heads.at(-1)?.kind === 'model'), 'though something was new')
  if (error === 'model_failed') say(heads.filter(({ kind }) => kind === 'model').at(-1)?.state === 'failed', 'though no thought has failed')
  // The letter of the last word completes a job, no claim does.
  say(['approval_expired', 'max_steps', 'deadline', 'model_failed', 'no_progress'].includes(error ?? ''), `as ${error}`)
}

/** A tool is about to do its work, with this role. */
export const checkUse = (world: World, step: Step, role: Role) => {
  const say = (holds: boolean, words: string) => hold(world, holds, `${step.name} runs: ${words}`)
  const { class: of } = tools.get(step.name)!
  const judged = world.judged.get(step.id)!
  const approval = approvalOf(world, step.id)
  const job = world.jobs.get(step.job_id)!
  const isRead = of === 'read' || of === 'outside_read'
  const uses = world.uses.filter((use) => use.step === step.id).length
  if (!isRead) say(uses === 0 || tools.get(step.name)!.way === 'urgent' || tools.get(step.name)!.way === 'reach', 'twice')
  if (of === 'outside_write') say(uses === 0, 'twice')
  world.uses.push({ step: step.id, role })
  say(judged.offered, 'it was not offered')
  say(job.tools === null || job.tools.includes(step.name), 'it is not one of the job')
  say(judged.rule !== 'deny', 'a rule forbids it')
  say(!isOver(job), 'its job is over')
  say(isRead || mayRun(step.name, role), `as ${role}`)
  say(step.args?.id !== FOREIGN, 'on a record of another workspace')
  if (isRead || of === 'safe') return
  const isAllowed =
    of === 'draft' ? judged.taint === 0 && judged.rule !== 'ask' : of === 'outside_write' && judged.taint === 0 && judged.rule === 'allow'
  if (isAllowed && mayRun(step.name, judged.role) && !judged.isRepeat) return say(approval === undefined, 'asked without need')
  checkAllowed(world, step, approval, say)
}

const checkAllowed = (world: World, step: Step, approval: Approval | undefined, say: Say) => {
  say(approval?.status === 'approved' && approval.decided_how === 'person', `with an approval that is ${approval?.status}`)
  if (!approval) return
  say(approval.arguments_hash === step.args_hash, 'with other arguments than were approved')
  say(mayRun(step.name, world.people.get(approval.decided_by ?? '') ?? 'viewer'), 'its approver may not do it')
  const [shown] = approval.subject.records
  say(
    shown === undefined || world.records.get(shown.id) === Number(shown.sha256.slice(1)),
    'on a record that has changed since it was shown',
  )
  say(+approval.decided_at! < +approval.expires_at, 'decided too late')
}

interface Offer {
  offered: string[]
  defined: string[]
  denied: ReadonlySet<string>
  role: Role
}

/** What the model is offered, and what it is given whole. */
export const checkDefined = (world: World, job: Job, { offered, defined, denied, role }: Offer) => {
  const expected = [...tools.values()].filter(({ name, class: of }) => {
    const isRead = of === 'read' || of === 'outside_read'
    return !denied.has(name) && (job.tools === null || job.tools.includes(name)) && (isRead || role !== 'viewer')
  })
  hold(world, offered.join() === expected.map(({ name }) => name).join(), `a ${role} is offered ${offered.join()}`)
  const isWhole = job.tools !== null || offered.length < 20
  for (const name of offered) {
    const isNeeded = isWhole ? name !== 'use_tools' : name === 'use_tools' || !temptations.includes(name) || job.shown.includes(name)
    hold(world, defined.includes(name) === isNeeded, `${name} is ${isNeeded ? 'not ' : ''}defined`)
  }
  hold(
    world,
    defined.every((name) => offered.includes(name)),
    'a tool is defined that is not offered',
  )
}

/** Each call has its answer, and what strangers wrote is marked. */
export const checkTranscript = (world: World, steps: readonly Step[], messages: readonly TranscriptMessage[]) => {
  const calls = steps.filter(({ kind }) => kind === 'tool')
  const given = messages.flatMap((message) => (message.role === 'tool' ? [message] : []))
  const refused = steps.flatMap(({ answer }) => answer?.refused?.calls ?? [])
  hold(world, given.length === calls.length + refused.length, `${calls.length} calls have ${given.length} results`)
  for (const { id } of refused)
    hold(world, given.find(({ call }) => call === id)?.text.startsWith('error: too many') === true, 'a refusal is not told')
  const left = steps.flatMap(({ answer }) => (answer?.refused?.left ? [`${answer.refused.left} further calls`] : []))
  for (const words of left)
    hold(
      world,
      given.some(({ text }) => text.includes(words)),
      'calls that were left out are not counted',
    )
  const results = given.filter(({ call }) => !refused.some(({ id }) => id === call))
  for (const [index, { call, text }] of results.entries()) {
    const step = calls[index]!
    hold(world, step.call === call, 'a result of another call')
    hold(world, step.state !== 'done' || !UUID.test(text), 'a uuid is shown to the model')
    if (step.untrusted) hold(world, text.includes('"untrusted":') && text.includes(step.untrusted), 'untrusted words without their mark')
    if (step.state === 'failed') hold(world, text.startsWith('error:'), 'a failure is not told as one')
    if (step.state === 'rejected') hold(world, text.startsWith(step.result?.text ?? 'A person'), 'a refusal is not told')
    if (step.state === 'unknown') hold(world, text.includes('not known'), 'a doubt is not told')
    if (step.state === 'done' && !step.untrusted) hold(world, text === step.result?.text, 'another result than the tool gave')
  }
}

/** After each step of the history. */
export const checkAll = (world: World) => {
  for (const job of world.jobs.values()) {
    const say = (holds: boolean, words: string) => hold(world, holds, `a job that is ${job.status}: ${words}`)
    const ends = world.ended.filter((id) => id === job.id).length
    say(ends === (isOver(job) ? 1 : 0), `ended ${ends} times`)
    say(isOver(job) === (job.ended_at !== null), 'the time of its end')
    say(world.work.has(job.id) === !isOver(job), 'its row of work')
    say(job.model_calls <= MOST_THOUGHTS, 'calls of the model')
    if (!isOver(job)) continue
    say(!stepsOf(world, job.id).some(isOpen), 'an open step')
    say(![...world.approvals.values()].some((one) => one.job_id === job.id && one.status === 'pending'), 'a pending approval')
  }
  for (const step of world.steps.values()) {
    const approval = approvalOf(world, step.id)
    const isSettled = approval?.status === 'rejected'
    if (isSettled) hold(world, ['rejected', 'cancelled'].includes(step.state), `${step.name} is ${step.state} though it was rejected`)
    if (approval?.status === 'pending') hold(world, step.state === 'asked', `${step.name} is ${step.state} before the decision`)
  }
}
