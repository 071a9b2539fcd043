import type { ToolBox } from '#decisions/agent/toolbox'
import type { JobEnd, Next } from '#domain/agent/job/loop'
import type { Step, StepHead } from '#domain/agent/job/step'
import type { At } from './at.ts'
import type { AgentDeps } from './deps.ts'
import { stepToRun } from './execute.ts'
import { waitsForServer, withServed } from './served.ts'
import type { Summarising } from './summary.ts'
import { begins, beginThought, type Of, type Thinking } from './thought.ts'

interface OfTools extends Of {
  /** With the tools of servers that it calls. */
  box: ToolBox
}

/** A run of one tool. */
export interface Single extends OfTools {
  kind: 'reach' | 'urgent' | 'outside'
  step: Step
}

/** The work of a lane. */
export type AgentRun = Thinking | Summarising | ({ kind: 'read'; steps: Step[] } & OfTools) | Single

type Outside = Extract<Next, { kind: 'think' | 'read' | 'reach' | 'urgent' | 'outside' }>

/**
 * `refused`: nothing is to be run, and the results say why. `busy`: the server outside has
 * something else to do. `held`: why no model is called.
 */
type Begun = { run: AgentRun } | { end: JobEnd } | { held: string } | 'refused' | 'busy'

export const beginRun = async (
  usual: AgentDeps,
  at: At,
  heads: readonly StepHead[],
  next: Outside,
): Promise<Begun> => {
  const deps = next.kind === 'outside' ? await withServed(usual, at, [next.step.name]) : usual
  if (next.kind === 'outside' && (await waitsForServer(deps, at, next.step.name))) return 'busy'
  await deps.failpoints('agent.beginning')
  if (next.kind === 'think') return beginThought(deps, at, heads, next)
  begins(at)
  const steps: Step[] = []
  for (const head of next.kind === 'read' ? next.steps : [next.step]) {
    const step = await stepToRun(deps, at, head)
    if (!step) continue
    const running = at.changes.save({ ...step, state: 'running', started_at: at.gate.now })
    at.changes.started(running, deps.toolBox().tools.get(running.name)?.title ?? running.name)
    steps.push(running)
  }
  if (steps.length === 0) return 'refused'
  const of = { job: at.changes.job, caller: at.caller, box: deps.toolBox() }
  return next.kind === 'read'
    ? { run: { kind: 'read', steps, ...of } }
    : { run: { kind: next.kind, step: steps[0]!, ...of } }
}
