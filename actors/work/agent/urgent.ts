/** The letter of a job's urgent tool: pause-all. */
import { commandEffects, factsAt, jobEffects } from '#decisions/agent/job-effects'
import { refusalOf } from '#decisions/agent/refusal'
import type { ToolContext } from '#decisions/agent/toolbox'
import { callingJob, isOver, type Job } from '#domain/agent/job/job'
import { isFinished, type Step } from '#domain/agent/job/step'
import { type JobAnswer, stepOf } from '#domain/agent/job/transition'
import { jobPart } from '#store/agent/jobs'
import { stepPart } from '#store/agent/steps'
import { threadOf } from '#store/agent/thread'
import { type Effects, merge } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { Letter } from '../../engine/letter.ts'
import type { AgentDeps } from './deps.ts'
import { carriedOut } from './execute.ts'
import type { Single } from './run.ts'

/** Its commit contains the step's result, so it is never done twice. */
export const urgentLetter = (
  deps: AgentDeps,
  { job, step, caller }: Pick<Single, 'job' | 'step' | 'caller'>,
): Letter<void> => ({
  name: 'agent.urgent',
  priority: 'control',
  alone: true,
  exempt: true,
  provenance: { principal: { kind: 'system', id: 'agent' }, surface: 'agent' },
  async decide(sql, gate, lanes) {
    const found = await loadNow(sql, {
      job: jobPart(job.id),
      step: stepPart(step.id),
      thread: threadOf(job),
    })
    if (!found.job || isOver(found.job) || !found.step || isFinished(found.step))
      return { reply: undefined }
    const facts = { ...factsAt(gate.now), thread: found.thread }
    const { answer, effects = {} } = await pulled(deps, found.job, found.step, {
      sql,
      gate,
      caller,
      lanes,
      job: callingJob(found.job, found.step),
    })
    // The row of work is its lane's, which goes on with the job.
    const change = { ...stepOf(found.job, answer, facts), due: undefined }
    return { reply: undefined, effects: merge(jobEffects(change), effects) }
  },
})

const pulled = async (
  deps: AgentDeps,
  job: Job,
  step: Step,
  context: ToolContext,
): Promise<{ answer: JobAnswer; effects?: Effects }> => {
  try {
    const decided = await deps.toolBox().decide(step.name, step.args ?? {}, context)
    return {
      answer: carriedOut(deps, step, decided),
      effects: commandEffects(job, { step, decided, approval: undefined }),
    }
  } catch (cause) {
    const error = refusalOf(cause)
    if (error === undefined) throw cause
    return { answer: { kind: 'refused', step, error } }
  }
}
