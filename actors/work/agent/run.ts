import type { ToolBox } from '#decisions/agent/toolbox'
import { beginCalls, type CallToBegin } from '#domain/agent/job/beginning'
import { unchanged } from '#domain/agent/job/change'
import type { Next } from '#domain/agent/job/loop'
import type { Step, StepHead } from '#domain/agent/job/step'
import type { At, Begun } from './at.ts'
import type { AgentDeps } from './deps.ts'
import { callToBegin } from './execute.ts'
import { waitsForServer, withServed } from './served.ts'
import type { Summarising } from './summary.ts'
import { beginThinking, type NextThought, type Of, type Thinking } from './thought.ts'

interface OfTools extends Of {
  /** The tool box, with the server tools that the run calls. */
  box: ToolBox
}

/** A run of one tool. */
export interface Single extends OfTools {
  kind: 'reach' | 'urgent' | 'outside'
  step: Step
}

/** The work of a lane. */
export type AgentRun = Thinking | Summarising | ({ kind: 'read'; steps: Step[] } & OfTools) | Single

type Outside = Extract<Next, { kind: 'read' | 'reach' | 'urgent' | 'outside' }> | NextThought

/** `busy`: the server outside has something else to do. */
export const beginRun = async (
  usual: AgentDeps,
  at: At,
  heads: readonly StepHead[],
  next: Outside,
): Promise<Begun<AgentRun> | 'busy'> => {
  const deps = next.kind === 'outside' ? await withServed(usual, at, [next.step.name]) : usual
  if (next.kind === 'outside' && (await waitsForServer(deps, at, next.step.name))) return 'busy'
  await deps.failpoints('agent.beginning')
  if (next.kind === 'think') return beginThinking(deps, at, heads, next)
  const calls: CallToBegin[] = []
  for (const head of next.kind === 'read' ? next.steps : [next.step])
    calls.push(await callToBegin(deps, at, head))
  const { change, steps } = beginCalls(unchanged(at.job, at.facts), calls)
  if (steps.length === 0) return { change }
  const of = { job: change.job, caller: at.caller, box: deps.toolBox() }
  return {
    change,
    run:
      next.kind === 'read'
        ? { kind: 'read', steps, ...of }
        : { kind: next.kind, step: steps[0]!, ...of },
  }
}
