/** The letter of a job's urgent tool: pause-all. */
import { factsAt, jobEffects } from '#decisions/agent/job-effects'
import { callingJob, isOver } from '#domain/agent/job/job'
import { isFinished } from '#domain/agent/job/step'
import { stepOf } from '#domain/agent/job/transition'
import { jobPart } from '#store/agent/jobs'
import { stepPart } from '#store/agent/steps'
import { threadOf } from '#store/agent/thread'
import { merge } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { Letter } from '../../engine/letter.ts'
import type { AgentDeps } from './deps.ts'
import { answerCommand } from './execute.ts'
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
    const { name, args } = found.step
    const context = { sql, gate, caller, lanes, job: callingJob(found.job, found.step) }
    const called = { step: found.step, approval: undefined }
    const { answer, effects = {} } = await answerCommand(deps, found.job, called, () =>
      deps.toolBox().decide(name, args ?? {}, context),
    )
    // The row of work is its lane's, which goes on with the job.
    const change = { ...stepOf(found.job, answer, facts), due: undefined }
    return { reply: undefined, effects: merge(jobEffects(change), effects) }
  },
})
