/**
 * What a model is given for a job's next thought. It is read beside the mailbox, because it can be
 * long.
 */
import { Buffer } from 'node:buffer'
import { isForStranger } from '#domain/agent/channel/trust'
import type { Authors, MessageAuthor, Named } from '#domain/agent/job/authors'
import { historyBytes } from '#domain/agent/job/budget'
import { MOST_MESSAGES, summaryMessage } from '#domain/agent/job/compaction'
import { playbooksMessage } from '#domain/agent/job/prompt'
import { formatOf, taskMessages } from '#domain/agent/job/tasks/asking'
import {
  answeredMessage,
  fitted,
  memoryMessage,
  saidMessage,
  stepMessages,
  type TranscriptMessage,
} from '#domain/agent/job/transcript'
import type { GivenPlaybook } from '#domain/agent/knowledge/playbook'
import type { ThinkRequest } from '#port/model/thinker'
import { stepDeciders } from '#store/agent/authors'
import { memoriesForTurn } from '#store/agent/memories'
import { pinnedPlaybooks } from '#store/agent/playbooks'
import { stepsOf } from '#store/agent/steps'
import { type StoredSummary, saidSince, summaryBefore } from '#store/agent/summaries'
import { messageText } from '#store/agent/thread'
import { type Loaded, loadBy, when } from '#store/engine/load'
import type { AgentDeps } from './deps.ts'
import { summaryIn } from './summary.ts'
import type { Thinking } from './thought.ts'

interface Asking {
  turn: ThinkRequest
  /** The person's words that the job answers. */
  typed: string
  /** The ids of the memories among the messages. */
  memoryIds: string[]
  /** The playbooks in the system message. */
  playbooks: GivenPlaybook[]
}

const turnParts = ({ job, byDesk }: Pick<Thinking, 'job' | 'byDesk'>) => {
  const { id, message_id, on_behalf, goal, started_at, created_at } = job
  const isMessage = message_id !== null
  const isModels = !byDesk && !job.task
  const words = { personId: on_behalf.personId, text: goal }
  return {
    said: when(isMessage, saidSince(message_id ?? '', MOST_MESSAGES)),
    before: when(isMessage, summaryBefore(message_id ?? '')),
    own: when(isMessage, messageText(message_id ?? '')),
    steps: stepsOf(id),
    decided: stepDeciders(id),
    pinned: when(isModels, pinnedPlaybooks),
    memories: when(
      isModels && !isForStranger(on_behalf),
      memoriesForTurn(words, started_at ?? created_at),
    ),
  }
}

/**
 * What was said in the conversation, ending with the job's own message; for a job that answers
 * none, its goal.
 */
const messagesOf = (
  { job, authors }: Thinking,
  said: Loaded<ReturnType<typeof turnParts>>['said'],
): TranscriptMessage[] =>
  said
    ? said.map((one) =>
        one.id === job.message_id
          ? answeredMessage(one, job.on_behalf)
          : saidMessage(one, { by: authors.of(one.author) }),
      )
    : [{ role: 'user', text: job.goal }]

export const turnOf = async (
  deps: AgentDeps,
  thinking: Thinking,
  tenantId: string,
): Promise<Asking> => {
  const { job, system, tools, last, maxTokens, open, authors } = thinking
  const asked = {
    model: job.model,
    system,
    tools,
    choice: last ? ('none' as const) : ('auto' as const),
    maxTokens,
  }
  const {
    said,
    before,
    steps,
    own,
    pinned,
    memories: found,
    decided,
  } = await loadBy((query) => deps.db.read({ tenantId }, query), turnParts(thinking))
  if (job.task) {
    const turn = { ...asked, messages: taskMessages(job.task, steps), format: formatOf(job.task) }
    return { turn, typed: '', memoryIds: [], playbooks: [] }
  }
  const memories = found ?? []
  const earlier = withSummary(
    messagesOf(thinking, said),
    { before, authors },
    historyBytes(deps.contextTokens),
  )
  const history = earlier.toSpliced(-1, 0, ...open, ...memoryMessage(memories))
  const { text, given: playbooks } = playbooksMessage(pinned ?? [])
  const messages = [...history, ...stepMessages(steps, decidersBy(decided, authors))]
  return {
    turn: { ...asked, system: `${system}${text}`, messages },
    typed: own?.content ?? (job.parent_id === null ? job.goal : ''),
    memoryIds: memories.map(({ id }) => id),
    playbooks,
  }
}

/** By step. */
const decidersBy = (
  decided: { step_id: string; author: MessageAuthor }[],
  authors: Authors,
): Map<string, Named> =>
  new Map(
    decided.flatMap(({ step_id, author }): [string, Named][] => {
      const named = authors.of(author)
      return named ? [[step_id, named]] : []
    }),
  )

/** The summary of the oldest messages, followed by those of the others that fit. */
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

const bytesOf = (messages: readonly TranscriptMessage[]): number =>
  messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
