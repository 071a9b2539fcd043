/** What a model is given at a job's next thought. It is read beside the mailbox, because it can be long. */
import { Buffer } from 'node:buffer'
import { isForStranger } from '#domain/agent/channel/trust'
import type { Author, Authors, Named } from '#domain/agent/job/authors'
import { historyBytes } from '#domain/agent/job/budget'
import { MOST_MESSAGES, summaryMessage } from '#domain/agent/job/compaction'
import { playbooksMessage } from '#domain/agent/job/prompt'
import { formatOf, taskMessages } from '#domain/agent/job/tasks/asking'
import { answeredMessage, fitted, recallMessage, saidMessage, stepMessages, type TranscriptMessage } from '#domain/agent/job/transcript'
import type { GivenPlaybook } from '#domain/agent/knowledge/playbook'
import type { Turn } from '#port/model/thinker'
import { decidersOf } from '#store/agent/authors'
import { recalledMemories } from '#store/agent/memories'
import { pinnedPlaybooks } from '#store/agent/playbooks'
import { stepsOf } from '#store/agent/steps'
import { type StoredSummary, saidSince, summaryBefore } from '#store/agent/summaries'
import { messageText } from '#store/agent/thread'
import { loadBy, when } from '#store/engine/load'
import type { AgentDeps } from './deps.ts'
import type { Thinking } from './run.ts'
import { summaryIn } from './summary.ts'

interface Asking {
  turn: Turn
  /** The words of a person that the job answers. */
  typed: string
  /** Ids of the memories among the messages. */
  recalled: string[]
  /** Those of the system message. */
  playbooks: GivenPlaybook[]
}

export const turnOf = async (
  deps: AgentDeps,
  { job, system, tools, last, byDesk, maxTokens, open, authors }: Thinking,
  tenantId: string,
): Promise<Asking> => {
  const asked = { model: job.model, system, tools, choice: last ? ('none' as const) : ('auto' as const), maxTokens }
  const words = { personId: job.on_behalf.personId, text: job.goal }
  const { said, before, steps, own, pinned, recalled, decided } = await loadBy((query) => deps.db.read({ tenantId }, query), {
    said: when(job.message_id !== null, saidSince(job.message_id ?? '', MOST_MESSAGES)),
    before: when(job.message_id !== null, summaryBefore(job.message_id ?? '')),
    own: when(job.message_id !== null, messageText(job.message_id ?? '')),
    steps: stepsOf(job.id),
    decided: decidersOf(job.id),
    pinned: when(!byDesk && !job.task, pinnedPlaybooks),
    recalled: when(!byDesk && !job.task && !isForStranger(job.on_behalf), recalledMemories(words, job.started_at ?? job.created_at)),
  })
  if (job.task)
    return {
      turn: { ...asked, messages: taskMessages(job.task, steps), format: formatOf(job.task) },
      typed: '',
      recalled: [],
      playbooks: [],
    }
  const memories = recalled ?? []
  const messages = said
    ? said.map((one) =>
        one.id === job.message_id ? answeredMessage(one, job.on_behalf) : saidMessage(one, { by: authors.of(one.author) }),
      )
    : [{ role: 'user' as const, text: job.goal }]
  const earlier = withSummary(messages, { before, authors }, historyBytes(deps.contextTokens))
  const history = earlier.toSpliced(-1, 0, ...open, ...recallMessage(memories))
  const { text, given: playbooks } = playbooksMessage(pinned ?? [])
  const turn: Turn = { ...asked, system: `${system}${text}`, messages: [...history, ...stepMessages(steps, decidersBy(decided, authors))] }
  return { turn, typed: own?.content ?? (job.parent_id === null ? job.goal : ''), recalled: memories.map(({ id }) => id), playbooks }
}

/** By steps. */
const decidersBy = (decided: { step_id: string; author: Author }[], authors: Authors): Map<string, Named> =>
  new Map(
    decided.flatMap(({ step_id, author }): [string, Named][] => {
      const named = authors.of(author)
      return named ? [[step_id, named]] : []
    }),
  )

/** The summary of the oldest messages, then those that fit of the others. */
const withSummary = (
  messages: TranscriptMessage[],
  { before, authors }: { before: StoredSummary | undefined; authors: Authors },
  room: number,
): TranscriptMessage[] => {
  const { summarised_to = 0, seq = messages.length } = before ?? {}
  const summary = before && summaryIn(before, authors)
  const first = summary ? [summaryMessage(summary, summarised_to)] : []
  const unread = Math.max(0, seq - summarised_to - messages.length)
  return [...first, ...fitted(messages, room - bytesOf(first), unread)]
}

const bytesOf = (messages: readonly TranscriptMessage[]): number => messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
