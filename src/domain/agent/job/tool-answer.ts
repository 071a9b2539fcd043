/** What the answer of a tool does to the job that has called it. Pure. */
import { givenBy } from '../knowledge/playbook.ts'
import type { Approval } from './approval.ts'
import {
  decideApproval,
  endCall,
  endStep,
  type JobChange,
  nameRecords,
  putStep,
  setJob,
  taintJob,
  tellStarted,
} from './change.ts'
import { hostOf } from './fetching.ts'
import { HandleBook, type Naming } from './handles.ts'
import { keptResult, type Step } from './step.ts'

/** How the answers of tools are kept, and shown to a model. */
export interface ToolForms {
  readonly tools: ReadonlyMap<string, ServedBy>
  /** An answer without its secrets, which only the caller gets. */
  kept(name: string, value: unknown): unknown
  /** The short names of the records in an answer. */
  naming(name: string): Naming
  /** An answer of a tool, formatted as lines for a model. */
  text(name: string, value: unknown): string
  /** Whose words an answer contains, if the answer itself tells; otherwise undefined. */
  sources(name: string, value: unknown): string[] | undefined
  /** Whether an answer contains text of outsiders. */
  isForeign(name: string, value: unknown): boolean
}

/** Of a tool of an MCP server: the server, and where taint says that its answers come from. */
interface ServedBy {
  server?: string
  source?: string
}

/** The result of a tool that was tried in vain. */
export const IN_VAIN = 'tool_failed: it failed three times'
/** The result of one that was carried out. */
const UNREADABLE = 'tool_failed: it was called, and its result could not be read'

/** The source of foreign text: for a page, its host. */
const sourceOf = ({ name, class: of, args }: Step): string =>
  of === 'outside_read' ? `${name} ${hostOf(String(args?.url)) ?? ''}`.trim() : name

const sourcesOf = (forms: ToolForms, step: Step, value: unknown): string[] =>
  forms.isForeign(step.name, value)
    ? (forms.sources(step.name, value) ?? [forms.tools.get(step.name)?.source ?? sourceOf(step)])
    : []

/**
 * The answer, as it is kept and shown to the model. That of a direct call is kept whole. `ref`: the
 * record that it made or changed.
 */
export const finishCall = (
  before: JobChange,
  step: Step,
  { forms, answer, ref }: { forms: ToolForms; answer: unknown; ref?: string | undefined },
): JobChange => {
  const value = forms.kept(step.name, answer)
  const sources = sourcesOf(forms, step, value)
  const isAction = before.job.kind === 'action'
  // An MCP server uses ids of its own.
  const hasIds = !isAction && forms.tools.get(step.name)?.server === undefined
  const book = new HandleBook(before.thread?.handles ?? {})
  const shown = hasIds ? book.shorten(value, forms.naming(step.name)) : value
  const playbooks = givenBy(step.name, value)
  const more = {
    ...(isAction && { value }),
    ...(playbooks.length > 0 && { playbooks }),
    ...(ref && { ref }),
  }
  return endCall(nameRecords(taintJob(before, sources), hasIds ? book.added : {}), {
    ...step,
    state: 'done',
    untrusted: sources[0] ?? null,
    ...keptResult(forms.text(step.name, shown), more),
  })
}

const failure = (error: string) => ({
  state: 'failed' as const,
  result: { text: error },
  error,
})

/** A refusal as a result for the model. `from`: the source of its words, if they are not ours. */
export const failCall = (
  change: JobChange,
  step: Step,
  error: string,
  from: string | null = null,
): JobChange =>
  endCall(taintJob(change, from ? [from] : []), { ...step, ...failure(error), untrusted: from })

/**
 * A call that is not made: it counts as none, in the tool's hour and everywhere else. `stale`: it
 * was approved, and what it was approved for has changed since.
 */
export const refuseCall = (
  before: JobChange,
  { step, error, stale }: { step: Step; error: string; stale?: Approval | undefined },
): JobChange => {
  const { now: updated_at } = before.facts
  const change = stale
    ? decideApproval(before, { ...stale, decided_how: 'stale', updated_at })
    : before
  return step.started_at === null
    ? endStep(change, { ...step, ...failure(error) })
    : failCall(change, step, error)
}

/** A call that was allowed and is needless: it counts as none. */
export const endMootCall = (
  before: JobChange,
  { step, approval, text }: { step: Step; approval: Approval; text: string },
): JobChange =>
  endStep(decideApproval(before, { ...approval, updated_at: before.facts.now }), {
    ...step,
    state: 'rejected',
    result: { text },
  })

/** What a step has waited for is over. The time of waiting is not the job's. */
export const afterWaiting = ({ job: { active_ms } }: JobChange, change: JobChange): JobChange =>
  setJob(change, { active_ms })

/** A tool was tried in vain. How long it took in all is not the job's time. */
export const failInVain = (change: JobChange, step: Step): JobChange =>
  afterWaiting(change, failCall(change, step, step.state === 'waiting' ? UNREADABLE : IN_VAIN))

/** What a tool has given beside the mailbox. `unknown`: it may have happened. */
export type Given = { value: unknown } | { error: string } | { unknown: true }

/** A call outside has left the workspace, whatever became of it. */
const countOutside = (
  change: JobChange,
  server: string | undefined,
  { name: tool, number: step }: Step,
  given: Given,
): JobChange => {
  if (server === undefined) return change
  const outcome = 'unknown' in given ? 'unknown' : 'error' in given ? 'failed' : 'done'
  return { ...change, outside: [...change.outside, { server, tool, step, outcome }] }
}

/** An answer that cannot be shown must not make the others fail. */
const finishOrFail = (before: JobChange, step: Step, forms: ToolForms, answer: unknown) => {
  try {
    return finishCall(before, step, { forms, answer })
  } catch {
    return failCall(before, step, UNREADABLE)
  }
}

export const settleCall = (
  change: JobChange,
  { step, given }: { step: Step; given: Given },
  forms: ToolForms,
): JobChange => {
  const { server, source = step.name } = forms.tools.get(step.name) ?? {}
  const counted = countOutside(change, server, step, given)
  if ('unknown' in given) return endStep(counted, { ...step, state: 'unknown' })
  if ('value' in given) return finishOrFail(counted, step, forms, given.value)
  // An external program writes its own error texts.
  return failCall(counted, step, given.error, step.class === 'outside_write' ? source : null)
}

/**
 * The step of a call outside whose job was cancelled meanwhile: what became of it is still written
 * down.
 */
export const settledLate = (
  step: Step,
  { forms, given, now }: { forms: ToolForms; given: Given; now: Date },
): Step | undefined => {
  if (step.state !== 'unknown' || 'unknown' in given) return undefined
  const over = { ...step, ended_at: now, updated_at: now }
  if ('error' in given) return { ...over, ...failure(given.error) }
  const text = forms.text(step.name, forms.kept(step.name, given.value))
  return { ...over, state: 'done', ...keptResult(text) }
}

/** What a command has decided. */
export interface Carried {
  value: unknown
  /** Its record is settled later, and the value is of before that. */
  awaits?: { kind: 'generation' | 'publish' | 'child'; id: string } | undefined
  /** Names of tools whose definitions the job is given from now on. */
  shown?: string[] | undefined
  /** The record that it made or changed. */
  ref?: string | undefined
}

export const carryOut = (
  before: JobChange,
  { step, forms, carried }: { step: Step; forms: ToolForms; carried: Carried },
): JobChange => {
  const { value, awaits, shown, ref } = carried
  const change = shown
    ? setJob(before, { shown: [...new Set([...before.job.shown, ...shown])] })
    : before
  if (!awaits || before.job.kind === 'action')
    return finishCall(change, step, { forms, answer: value, ref })
  const waiting: Step = {
    ...step,
    state: 'waiting',
    awaits_kind: awaits.kind,
    awaits: awaits.id,
    started_at: change.facts.now,
  }
  const waits = putStep(change, waiting)
  return awaits.kind === 'child' ? tellStarted(waits, waiting, `job ${awaits.id}`) : waits
}
