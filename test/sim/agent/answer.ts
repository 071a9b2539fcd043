/**
 * What the model answers, by chance: calls of any tool, of any record, in any number; and what of
 * it can be used.
 */
import { argumentsHash } from '#domain/agent/hash'
import type { TranscriptCall } from '#domain/agent/job/answer'
import type { ConversationThread } from '#domain/agent/job/change'
import { HandleBook } from '#domain/agent/job/handles'
import type { Job } from '#domain/agent/job/job'
import type { AcceptedCall, Checked, Judged } from '#domain/agent/job/model-answer'
import type { Step } from '#domain/agent/job/step'
import { verdictOf } from '#domain/agent/job/verdict'
import type { Role } from '#kernel/roles'
import { circles } from './calls.ts'
import { checkArguments } from './money.ts'
import { mayRun, temptations, toolNames, tools } from './tools.ts'
import {
  count,
  FOREIGN,
  hold,
  newId,
  stepsOf,
  subjectOf,
  type Thinking,
  threadOf,
  type World,
} from './world.ts'

interface Called {
  name: string
  arguments: string
}

const anyId = (world: World, { handles }: ConversationThread): string => {
  const shown = Object.keys(handles)
  const chance = world.next()
  if (chance < 0.7 && shown.length > 0) return world.of(shown)
  return world.of([
    FOREIGN,
    'record:999',
    [...world.records.keys()][5]!,
    '00000000-0000-4000-8000-0000000000ff',
  ])
}

const callOf = (world: World, thread: ConversationThread): Called => {
  // The same call again and again, of what may have happened already.
  if (world.next() < 0.1) return { name: 'sms', arguments: '{}' }
  if (world.next() < 0.15) return { name: 'delegate', arguments: '{}' }
  const name = world.next() < 0.9 ? world.of(temptations) : world.of([...toolNames, 'nothing'])
  if (world.next() < 0.05) return { name, arguments: world.of(['{', '[]', 'null', '"x"']) }
  return {
    name,
    arguments: JSON.stringify(
      world.next() < 0.4 ? {} : { id: anyId(world, thread), n: world.below(3) },
    ),
  }
}

/** The same again, whatever it was told; or nothing, where it must conclude. */
const inCircles = (world: World, { id }: Job, last: boolean) => {
  const usage = { input_tokens: 300, cached_tokens: 0, output_tokens: 20 }
  const name = ['list', 'sms', 'publish'][Number.parseInt(id.slice(-2), 16) % 3]!
  const call = { id: newId(world), name, arguments: world.next() < 0.1 ? '{' : '{}' }
  const calls = last && world.next() < 0.5 ? [] : [call]
  return { text: '', calls, ending: 'whole' as const, model: 'm', usage }
}

export const answerOf = (world: World, job: Job, last: boolean) => {
  const thread = threadOf(world, job)
  const chance = world.next()
  if (circles(job) && chance < 0.9) return inCircles(world, job, last)
  const many = chance < 0.03 ? world.of([40, 90]) : 1 + world.below(5)
  const name = world.of(['list', 'delegate', undefined])
  const one = many >= 40 && name ? () => ({ name, arguments: '{}' }) : () => callOf(world, thread)
  const calls = chance < (last ? 0.3 : 0.8) ? Array.from({ length: many }, one) : []
  const usage = {
    input_tokens: 200 + world.below(9_000),
    cached_tokens: 0,
    output_tokens: world.below(5_000),
  }
  const text = world.next() < 0.9 ? 'Fine.' : world.of(['', '\0', 'a\ud800', 'x'.repeat(9_000)])
  const odd = world.of([
    undefined,
    { ...usage, input_tokens: -1 },
    { ...usage, output_tokens: 1e12 },
  ])
  const called = calls.map((call) => ({ id: newId(world), ...call }))
  const ending = 'whole' as const
  return { text, calls: called, ending, model: 'm', usage: world.next() < 0.9 ? usage : odd }
}

const checkedCall = (
  world: World,
  { offered }: Thinking,
  job: Job,
  { name, arguments: text }: Called,
): Checked => {
  if (!offered.includes(name) || !tools.has(name)) return { error: 'there is no such tool' }
  try {
    const given: unknown = JSON.parse(text)
    if (typeof given !== 'object' || given === null || Array.isArray(given))
      return { error: 'not an object' }
    const { handles } = threadOf(world, job)
    const args = new HandleBook(handles).resolve(given, job.goal) as Record<string, unknown>
    checkArguments(world, { given, args, handles, typed: job.goal })
    return { args, hash: argumentsHash(args) }
  } catch (cause) {
    return { error: String(cause) }
  }
}

interface Judging {
  job: Job
  role: Role
  checked: Checked
  /** What the job has read from outside by now. */
  taint: string[]
}

const judge = (world: World, name: string, { job, role, checked, taint }: Judging): Judged => {
  if ('error' in checked) return { state: 'failed', why: [], error: checked.error }
  const may = mayRun(name, role)
  const verdict = verdictOf({
    class: tools.get(name)!.class,
    offered: true,
    mayRun: may,
    taint,
    rule: world.rules.get(name),
    isRepeat: isRepeat(world, job, name, checked.hash),
  })
  count(world, `verdict ${verdict.decision}`)
  hold(world, may || verdict.decision !== 'allow', `${name} is allowed, which a ${role} may not do`)
  if (verdict.decision === 'deny') return { state: 'failed', why: [], error: verdict.reason }
  if (verdict.decision === 'allow') return { state: 'ready', why: [] }
  const approval = { summary: '', subject: subjectOf(world, checked.args) }
  return { state: 'asked', why: verdict.why, approval }
}

const isRepeat = (world: World, { id }: Job, tool: string, hash: string): boolean =>
  stepsOf(world, id).some(
    ({ name, args_hash, state }) => name === tool && args_hash === hash && state === 'unknown',
  )

/** What becomes of each call of an answer. */
export const judgeCalls = (
  world: World,
  { run, job, taint }: { run: Thinking; job: Job; taint: string[] },
  calls: readonly TranscriptCall[],
): AcceptedCall[] => {
  const role = world.people.get(job.on_behalf.personId!) ?? run.role
  return calls.map((call) => {
    const checked = checkedCall(world, run, job, call)
    const judged = judge(world, call.name, { job, role, checked, taint })
    return { call, class: tools.get(call.name)?.class ?? null, checked, judged }
  })
}

/** The facts at the time of the verdicts, by which the calls are judged again once they run. */
export const noteJudged = (
  world: World,
  { run, job, taint }: { run: Thinking; job: Job; taint: string[] },
  step: Step,
): void => {
  const role = world.people.get(job.on_behalf.personId!) ?? run.role
  world.judged.set(step.id, {
    taint: taint.length,
    offered: run.offered.includes(step.name),
    role,
    isRepeat: isRepeat(world, job, step.name, step.args_hash ?? ''),
    rule: world.rules.get(step.name),
  })
}
