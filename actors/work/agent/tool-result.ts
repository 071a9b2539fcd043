import type { Decided } from '#decisions/agent/toolbox'
import type { Approval } from '#domain/agent/job/approval'
import { hostOf } from '#domain/agent/job/fetching'
import { HandleBook } from '#domain/agent/job/handles'
import { keptResult, type Step, timeOf } from '#domain/agent/job/step'
import { givenBy } from '#domain/agent/knowledge/playbook'
import { merge } from '#store/engine/letter'
import type { At } from './at.ts'
import type { AgentDeps } from './deps.ts'

/** Where foreign text comes from: of a page, its host. */
const sourceOf = ({ name, class: of, args }: Step): string =>
  of === 'outside_read' ? `${name} ${hostOf(String(args?.url)) ?? ''}`.trim() : name

/**
 * A tool's answer, as it is kept and shown to the model. That of a direct call is kept whole.
 * `ref`: the record that it made or changed.
 */
export const finishTool = (
  deps: AgentDeps,
  { changes }: Pick<At, 'changes'>,
  step: Step,
  answer: unknown,
  ref?: string | null,
): Step => {
  const tools = deps.toolBox()
  const value = tools.kept(step.name, answer)
  const tool = tools.tools.get(step.name)
  const isForeign = tools.isForeign(step.name, value)
  const sources = isForeign
    ? (tools.sources(step.name, value) ?? [tool?.source ?? sourceOf(step)])
    : []
  changes.taint(sources)
  const book = new HandleBook(changes.handles)
  const isAction = changes.job.kind === 'action'
  // The ids of a server are its own.
  const hasIds = !isAction && tool?.server === undefined
  const text = tools.text(step.name, hasIds ? book.shorten(value, tools.naming(step.name)) : value)
  if (hasIds) changes.name(book.added)
  const playbooks = givenBy(step.name, value)
  const more = {
    ...(isAction ? { value } : {}),
    ...(playbooks.length > 0 ? { playbooks } : {}),
    ...(ref ? { ref } : {}),
  }
  return endStep(changes, {
    ...step,
    state: 'done',
    untrusted: sources[0] ?? null,
    ...keptResult(text, more),
  })
}

/** A refusal is a result for the model. `from`: where its words come from, if they are not ours. */
export const failTool = (
  { changes }: Pick<At, 'changes'>,
  step: Step,
  error: string,
  from: string | null = null,
): Step => {
  if (from) changes.taint([from])
  return endStep(changes, {
    ...step,
    state: 'failed',
    result: { text: error },
    error,
    untrusted: from,
  })
}

/** A call that is not made: it counts as none, in the tool's hour and everywhere else. */
export const refuseTool = ({ changes }: Pick<At, 'changes'>, step: Step, error: string): Step => {
  if (step.started_at !== null) return failTool({ changes }, step, error)
  const saved = changes.save({
    ...step,
    state: 'failed',
    result: { text: error },
    error,
    ended_at: changes.now,
  })
  changes.endedStep(saved)
  return saved
}

const endStep = (changes: At['changes'], step: Step): Step => {
  const times = { started_at: step.started_at ?? changes.now, ended_at: changes.now }
  const saved = changes.save({ ...step, ...times })
  const { tool_calls, active_ms } = changes.job
  changes.set({ tool_calls: tool_calls + 1, active_ms: active_ms + timeOf(times) })
  changes.endedStep(saved)
  return saved
}

interface DecidedStep {
  step: Step
  decided: Decided
  approval: Approval | undefined
}

/**
 * The effects of a decided command with its step's result. It appears in the audit as the agent's.
 */
export const decidedTool = (
  deps: AgentDeps,
  { changes }: Pick<At, 'changes'>,
  { step, decided, approval }: DecidedStep,
): void => {
  const { id, on_behalf, shown } = changes.job
  const { audit, ...effects } = decided.effects
  const detail = {
    ...audit?.detail,
    job: id,
    step: step.number,
    on_behalf: { kind: on_behalf.kind, id: on_behalf.personId ?? on_behalf.id },
  }
  const approved = approval ? { approved_by: approval.decided_by } : {}
  const by = { kind: 'agent', id, surface: 'agent' }
  changes.also(
    merge(effects, audit ? { audit: { ...audit, by, detail: { ...detail, ...approved } } } : {}),
  )
  if (decided.shown) changes.set({ shown: [...new Set([...shown, ...decided.shown])] })
  if (!decided.awaits || changes.job.kind === 'action')
    return void finishTool(deps, { changes }, step, decided.value, audit?.refId)
  const { kind: awaits_kind, id: awaits } = decided.awaits
  const waiting = changes.save({
    ...step,
    state: 'waiting',
    awaits_kind,
    awaits,
    started_at: changes.now,
  })
  if (awaits_kind === 'child') changes.started(waiting, `job ${awaits}`)
}
