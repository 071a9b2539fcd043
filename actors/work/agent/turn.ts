/** What a model is given at a job's next thought. It is read beside the mailbox, because it can be long. */
import { historyBytes } from '#domain/agent/budget'
import { playbooksMessage } from '#domain/agent/prompt'
import { formatOf, taskMessages } from '#domain/agent/tasks/asking'
import { fitted, recallMessage, saidMessage, stepMessages } from '#domain/agent/transcript'
import type { Turn } from '#port/model/thinker'
import { recalledMemories } from '#store/agent/memories'
import { pinnedPlaybooks } from '#store/agent/playbooks'
import { stepsOf } from '#store/agent/steps'
import { messageText, saidUntil } from '#store/agent/thread'
import { loadBy, when } from '#store/engine/load'
import type { AgentDeps } from './deps.ts'
import { MOST_MESSAGES, type Thinking } from './run.ts'

interface Asking {
  turn: Turn
  /** The words of a person that the job answers. */
  typed: string
  /** Ids of the memories among the messages. */
  recalled: string[]
}

export const turnOf = async (
  deps: AgentDeps,
  { job, system, tools, last, maxTokens, open }: Thinking,
  tenantId: string,
): Promise<Asking> => {
  const asked = { model: job.model, system, tools, choice: last ? ('none' as const) : ('auto' as const), maxTokens }
  const words = { personId: job.on_behalf.personId, text: job.goal }
  const { said, steps, own, pinned, recalled } = await loadBy((query) => deps.db.read({ tenantId }, query), {
    said: when(job.message_id !== null, saidUntil(job.message_id ?? '', MOST_MESSAGES)),
    own: when(job.message_id !== null, messageText(job.message_id ?? '')),
    steps: stepsOf(job.id),
    pinned: when(job.model !== 'desk' && !job.task, pinnedPlaybooks),
    recalled: when(job.model !== 'desk' && !job.task, recalledMemories(words, job.started_at ?? job.created_at)),
  })
  if (job.task) return { turn: { ...asked, messages: taskMessages(job.task, steps), format: formatOf(job.task) }, typed: '', recalled: [] }
  const memories = recalled ?? []
  const messages = said ? said.map(saidMessage) : [{ role: 'user' as const, text: job.goal }]
  const history = fitted(messages, historyBytes(deps.contextTokens)).toSpliced(-1, 0, ...open, ...recallMessage(memories))
  const turn: Turn = { ...asked, system: `${system}${playbooksMessage(pinned ?? [])}`, messages: [...history, ...stepMessages(steps)] }
  return { turn, typed: own?.content ?? job.goal, recalled: memories.map(({ id }) => id) }
}
