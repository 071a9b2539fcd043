/** The letter of an urgent tool of a job: pause-all. */

import { refusalOf } from '#decisions/agent/refusal'
import { callingJob, isOver } from '#domain/agent/job/job'
import { isFinished } from '#domain/agent/job/step'
import { jobPart } from '#store/agent/jobs'
import { stepPart } from '#store/agent/steps'
import { threadOf } from '#store/agent/thread'
import { loadNow } from '#store/engine/load'
import type { Letter } from '../../engine/letter.ts'
import { JobChanges } from './changes.ts'
import type { AgentDeps } from './deps.ts'
import type { Single } from './run.ts'
import { decidedTool, failTool } from './tool-result.ts'

/** Its commit holds the step's result, so it is never done twice. */
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
    const changes = new JobChanges(found.job, found.thread, gate.now)
    try {
      const decided = await deps.toolBox().decide(step.name, step.args ?? {}, {
        sql,
        gate,
        caller,
        lanes,
        job: callingJob(found.job, found.step),
      })
      decidedTool(deps, { changes }, { step: found.step, decided, approval: undefined })
    } catch (cause) {
      const refusal = refusalOf(cause)
      if (refusal === undefined) throw cause
      failTool({ changes }, found.step, refusal)
    }
    return { reply: undefined, effects: changes.effects() }
  },
})
