/** What the answer of the model does to the job that has asked it. Pure. */
import { beginning, storable } from '#kernel/storable'
import { withoutTags } from '#kernel/untrusted-tags'
import type { PlanUsage } from '../../app/plan.ts'
import { isForStranger } from '../channel/trust.ts'
import type { GivenPlaybook } from '../knowledge/playbook.ts'
import type { KeptThought, TranscriptCall } from './answer.ts'
import { newApproval, type Subject } from './approval.ts'
import { book } from './booking.ts'
import { nearedBy, type PriceOf } from './budget.ts'
import {
  addStep,
  endStep,
  goOn,
  type JobChange,
  say,
  setJob,
  taintJob,
  tell,
  tellEnded,
} from './change.ts'
import { isCommand } from './command.ts'
import { completeJob, endAsFailed } from './ending.ts'
import { jobLimits } from './limits.ts'
import { askedNews } from './news.ts'
import type { Step, StepHead, ToolClass } from './step.ts'
import { checkedOutput } from './tasks/asking.ts'
import { mostAttempts } from './tasks/task.ts'

/** Its arguments as the operation takes them: with ids in the place of handles. */
export type Checked = { args: Record<string, unknown>; hash: string } | { error: string }

/** The verdict on a call. */
export type Judged = Pick<Step, 'state' | 'why'> & {
  error?: string
  approval?: { summary: string; subject: Subject }
}

export interface AcceptedCall {
  call: TranscriptCall
  class: ToolClass | null
  checked: Checked
  judged: Judged
}

interface Calls {
  calls: readonly AcceptedCall[]
  /** The call of the model that answered with them. */
  step: Step
  /** What a person has asked for, of whom others are told. */
  goal: string
  publicUrl: string
}

/** The model, or the desk, has answered. */
export interface GivenThought {
  thought: KeptThought
  byDesk: boolean
  ms: number
  /** The person's words that the job answers. */
  typed: string
  /** The ids of the memories, and the playbooks, that it was given. */
  memoryIds: string[]
  playbooks: GivenPlaybook[]
  /** The sources of outsiders' text that the answer itself contains. */
  foreign: string[]
}

/** `calls`: what becomes of those in it. */
export interface AnsweredThought extends GivenThought, Calls {
  priceOf: PriceOf
  usage: PlanUsage
  /** Of the job, before this answer. */
  heads: readonly Pick<StepHead, 'kind' | 'state' | 'name'>[]
}

export const answerThought = (before: JobChange, answer: AnsweredThought): JobChange => {
  const { thought, step, memoryIds, foreign, calls } = answer
  const { task, model_calls } = before.job
  const booked = book(before, step, answer)
  const fault = task && checkedOutput(task, thought.text)
  const answered = endStep(taintJob(booked.change, foreign), {
    ...booked.step,
    error: fault && 'error' in fault ? fault.error : null,
    answer: answerOf(answer),
    untrusted: foreign[0] ?? null,
  })
  // All steps of a job are given the same memories.
  const change = model_calls === 1 ? { ...answered, memoryIds } : answered
  if (task) return answerTask(change, thought.text)
  if (calls.length > 0) return callOrRepeat(change, answer)
  const helpless = helplessEnd(change, answer)
  return helpless === undefined ? answerWords(change, answer) : endAsFailed(change, helpless)
}

const answerOf = ({
  thought: { text, calls, refused, reasoning },
  playbooks,
}: GivenThought): Step['answer'] => ({
  text,
  calls: calls.length,
  ...(reasoning && { reasoning }),
  ...(playbooks.length > 0 && { playbooks }),
  ...(refused.calls.length > 0 && { refused }),
})

/**
 * Why a job that nobody watches cannot begin: its goal is no command, and the desk could only
 * answer in words.
 */
const helplessEnd = (
  { job }: JobChange,
  { byDesk, typed, heads }: AnsweredThought,
): string | undefined => {
  if (!byDesk || job.origin === 'manual' || heads.some(({ kind }) => kind === 'tool'))
    return undefined
  return isCommand(typed) ? 'unknown_command' : 'model_required'
}

const REFUSED = 'The model declined to answer this.'
const CUT = '\n\n(The answer was cut off: it reached the longest length.)'

/** Words without a call of a tool: the end of the job. */
const answerWords = (change: JobChange, { thought, heads, usage }: AnsweredThought): JobChange => {
  const { ending, model } = thought
  const text = withoutTags(thought.text)
  const words = ending === 'refused' && text.trim() === '' ? REFUSED : text
  if (words.trim() === '') return repeat(change)
  const content = `${words}${ending === 'cut' ? CUT : ''}${nearLine(change, usage)}`
  const done = heads.filter(({ kind, state }) => kind === 'tool' && state === 'done')
  const tools_used = [...new Set(done.map(({ name }) => name))]
  const said = say(change, { role: 'assistant', content, model, tools_used })
  // Nobody else would hear the answer.
  const isAlone = change.job.conversation_id === null
  const output = { text: content, toolsUsed: tools_used }
  return completeJob(isAlone ? setJob(said, { output }) : said)
}

/**
 * The answer of the job that nearly uses up a budget says so, but not to anybody outside the
 * workspace.
 */
const nearLine = ({ job, spend }: JobChange, usage: PlanUsage): string => {
  if (isForStranger(job.on_behalf)) return ''
  const counters = { ...usage.counters }
  for (const { key, period, amount } of spend)
    counters[`${key}@${period}`] = (counters[`${key}@${period}`] ?? 0) + amount
  const near = nearedBy(job, { ...usage, counters })
  return near.length === 0 ? '' : `\n\n(${near.map(({ message }) => message).join(' ')})`
}

/** An answer that cannot be used: the model is asked again. The third in a row ends the job. */
const repeat = (before: JobChange): JobChange => {
  const invalid_answers = before.job.invalid_answers + 1
  const change = setJob(before, { invalid_answers })
  return invalid_answers >= jobLimits.unusableAnswers
    ? endAsFailed(change, 'model_invalid')
    : goOn(change)
}

/** In characters: the longest arguments in a transcript. */
const LONGEST_ASKED = 20_000

const acceptCall = (
  before: JobChange,
  { call, checked, judged, class: of }: AcceptedCall,
  { step: { number: of_step }, ...asking }: Calls,
): JobChange => {
  const { state, why, error, approval: said } = judged
  const change = addStep(before, {
    kind: 'tool',
    name: call.name,
    state,
    why,
    call: call.id,
    asked: beginning(storable(call.arguments), LONGEST_ASKED),
    of_step,
    ...('error' in checked ? {} : { args: checked.args, args_hash: checked.hash }),
    class: of,
    // A refused call never began, so it does not count as a call.
    ...(error !== undefined && { error, result: { text: error }, ended_at: before.facts.now }),
  })
  const step = change.added.at(-1)!
  if (error !== undefined) return tellEnded(change, step)
  return said ? ask(change, step, { ...asking, said }) : change
}

interface Asking extends Pick<Calls, 'goal' | 'publicUrl'> {
  said: NonNullable<Judged['approval']>
}

const ask = (change: JobChange, step: Step, { said, goal, publicUrl }: Asking): JobChange => {
  const { now, newId, thread } = change.facts
  const asked = { ...said, direct_by: null, conversation_id: thread?.id ?? null, now }
  const approval = newApproval(newId(), { ...change.job, goal }, step, asked)
  const told = tell(change, askedNews(approval, step, publicUrl))
  return { ...told, asked: [...change.asked, approval] }
}

/** An answer without a usable call counts against the job. */
const callOrRepeat = (before: JobChange, answer: AnsweredThought): JobChange => {
  const { calls } = answer
  const change = calls.reduce((to, call) => acceptCall(to, call, answer), before)
  if (calls.every(({ checked }) => 'error' in checked)) return repeat(change)
  const called = setJob(change, { invalid_answers: 0 })
  // Its calls come before the commands after it, which need not wait for its end.
  return goOn({ ...called, givesWay: called.job.typed })
}

const answerTask = (before: JobChange, text: string): JobChange => {
  const task = before.job.task!
  const checked = checkedOutput(task, text)
  if ('output' in checked) return completeJob(setJob(before, { output: checked.output }))
  const invalid_answers = before.job.invalid_answers + 1
  const change = setJob(before, { invalid_answers })
  return invalid_answers < mostAttempts(task)
    ? goOn(change)
    : endAsFailed(change, `output_invalid: ${checked.error}`)
}
