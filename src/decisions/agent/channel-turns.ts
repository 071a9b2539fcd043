/**
 * Begins a job from a channel's message: in the conversation of its thread, and in the name of its
 * sender.
 */
import type { ChannelConnection } from '#domain/agent/channel/channel'
import { type ChannelMessage, messageContent } from '#domain/agent/channel/message'
import { conversationKey, type Trusted } from '#domain/agent/channel/trust'
import { newConversation, titleOf, type Visibility, withMessage } from '#domain/agent/conversation'
import { type Job, newTurn } from '#domain/agent/job/job'
import { BEHIND_MS, dueNow, hasRoomForJob, openJobLimits } from '#domain/agent/job/limits'
import { chooseModel, type Models, type NO_MODEL } from '#domain/agent/job/model-choice'
import { CONVERSATION, tainted } from '#domain/agent/job/taint'
import { newId } from '#kernel/ids'
import { insertThread, type ThreadFacts, threadPart } from '#store/agent/channel-messages'
import { saveConversation, turnFacts } from '#store/agent/conversations'
import { insertMessages } from '#store/agent/messages'
import type { Sql } from '#store/engine/db'
import { type Effects, merge } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import { startEffects } from './job-effects.ts'
import type { Takes } from './paying.ts'

export interface ChannelTurn {
  connection: Pick<ChannelConnection, 'id'>
  message: ChannelMessage
  trust: Trusted
  now: Date
}

interface Place {
  thread: string
  before: ThreadFacts | undefined
}

/**
 * What a member writes to the agent alone is private. The workspace must see what strangers are
 * answered.
 */
const visibilityOf = (
  { kind }: Trusted,
  { is_shared }: Pick<ChannelMessage, 'is_shared'>,
): Visibility => (kind === 'member' && !is_shared ? 'private' : 'workspace')

/** The conversation after the message. A message makes an archived one active again. */
const continueConversation = (
  { connection, message, trust, now }: ChannelTurn,
  { thread, before }: Place,
  content: string,
  jobId: string,
) => {
  const { on_behalf: author, untrusted } = trust
  const title = titleOf(message.subject?.trim() || message.text?.trim() || content)
  const {
    our_jobs: _,
    our_typed: __,
    is_busy: ___,
    has_untrusted: ____,
    ...known
  } = before ?? {
    ...newConversation(newId(), {
      title,
      person_id: author.personId,
      origin: 'channel',
      visibility: visibilityOf(trust, message),
      now,
    }),
    our_jobs: 0,
    our_typed: 0,
    is_busy: false,
    has_untrusted: false,
  }
  const added = withMessage(
    { ...known, status: 'active' },
    { id: message.id, role: 'user', content, author, untrusted, job_id: jobId },
    now,
  )
  const save = before
    ? saveConversation(added.conversation)
    : insertThread(added.conversation, { connectionId: connection.id, thread })
  return { conversation: added.conversation, writes: [save, insertMessages([added.message])] }
}

const jobOf = (
  id: string,
  conversationId: string,
  turn: ChannelTurn,
  { content, before, typed }: { content: string; typed: boolean } & Pick<Place, 'before'>,
  models: Models | typeof NO_MODEL,
): Job => {
  const { trust, message, now } = turn
  const { on_behalf, tools } = trust
  const taint = before?.has_untrusted ? tainted(trust.taint, [CONVERSATION]) : trust.taint
  const asked = {
    ...chooseModel(undefined, models),
    content,
    conversation_id: conversationId,
    message_id: message.id,
  }
  const job = newTurn(id, { ...asked, on_behalf, tools, taint, now })
  return { ...job, typed, kind: 'channel', cause: { kind: 'channel', id: message.id } }
}

/**
 * The message in its conversation, the job that answers it, and the job's work. The work is due
 * now, or once the job before it has ended; a typed command is always due now. Undefined if the
 * workspace or the conversation has too many open jobs.
 */
export const startChannelTurn = async (
  { models, desk }: { models: Models | typeof NO_MODEL; desk: Takes },
  turn: ChannelTurn,
  { sql }: { sql: Sql },
): Promise<{ job: Job; message: ChannelMessage; effects: Effects } | undefined> => {
  const { connection, message, trust, now } = turn
  const thread = conversationKey({
    trust,
    sender: message.sender,
    thread: message.thread,
    isShared: message.is_shared,
  })
  const { before, facts } = await loadNow(sql, {
    before: threadPart(connection.id, thread),
    facts: turnFacts(null, { on_behalf: trust.on_behalf, origin: 'manual' }),
  })
  const [jobId, content] = [newId(), messageContent(message)]
  const typed = trust.kind === 'member' && (await desk.takes(content))
  const { our_jobs = 0, our_typed = 0 } = before ?? {}
  const most = trust.kind === 'member' ? openJobLimits.all : openJobLimits.ofOthers
  if (!hasRoomForJob({ ...facts, our_jobs, our_typed }, { typed, most })) return undefined
  const { conversation, writes } = continueConversation(turn, { thread, before }, content, jobId)
  const job = jobOf(jobId, conversation.id, turn, { content, before, typed }, models)
  const runAt = before?.is_busy && !typed ? new Date(now.getTime() + BEHIND_MS) : dueNow(job, now)
  const taken: ChannelMessage = {
    ...message,
    attachments: message.attachments.map((file) => ({ ...file, ref: null })),
    state: 'taken',
    job_id: jobId,
    conversation_id: conversation.id,
    to_fetch: null,
    updated_at: now,
  }
  return {
    job,
    message: taken,
    effects: merge({ writes }, startEffects(job, now, runAt)),
  }
}
