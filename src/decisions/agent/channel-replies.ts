/** Replies to channels, as effects of whatever decision makes them. */
import { keyOf, newWork } from '#decisions/work'
import { afterDoubt, type ChannelOrigin, recipientOf, toldOf } from '#domain/agent/channel/answer'
import type { ChannelConnection } from '#domain/agent/channel/channel'
import { newReply, replyUrl } from '#domain/agent/channel/reply'
import { wokenAt } from '#domain/agent/channel/reply-sending'
import type { Job } from '#domain/agent/job/job'
import { newId } from '#kernel/ids'
import type { Sealer } from '#kernel/sealer'
import { insertReply, replySecretRow } from '#store/agent/channel-replies'
import type { Effects } from '#store/engine/letter'
import type { KeyedWork } from '#store/engine/work'

export interface Replying {
  connection: Pick<ChannelConnection, 'id' | 'channel'>
  /** Where it goes, as the adapter said. */
  replyTo: Record<string, unknown>
  /** As people read it. */
  recipient: string
  /** In Markdown. */
  text: string
  /**
   * Set if a person must decide first, on a page under this public URL. `why`: the reason, for
   * people.
   */
  held?: { publicUrl: string; why: string } | undefined
  /** Replaces its mask in the text when the reply is sent, and is never shown. */
  secret?: { value: string; sealer: Sealer } | undefined
  /**
   * Ids: of the job that it answers, of the message that began the job, and of their conversation.
   */
  job?: string | null | undefined
  message?: string | null | undefined
  conversation?: string | null | undefined
  now: Date
}

/** The row of work that sends a reply. It is manual, because a person waits for the reply. */
export const replyWork = (
  { id, connection_id }: { id: string; connection_id: string },
  runAt: Date,
) => newWork('channel_reply', { refId: id, connection: connection_id, origin: 'manual', runAt })

/** Whether a row of work sends replies of this connection. */
export const sendsFor =
  (connection: string) =>
  ({ kind, concurrency_key }: Pick<KeyedWork, 'kind' | 'concurrency_key'>): boolean =>
    kind === 'channel_reply' && concurrency_key === keyOf('channel_reply', { connection })

/** A reply, to be sent soon or held. No effects if the text is blank. */
export const replyEffects = (replying: Replying): Effects => {
  const {
    connection,
    replyTo: reply_to,
    recipient,
    text,
    held,
    secret,
    job = null,
    message = null,
    conversation = null,
    now,
  } = replying
  if (text.trim() === '') return {}
  const ids = {
    id: newId(),
    connection_id: connection.id,
    job_id: job,
    message_id: message,
    conversation_id: conversation,
  }
  const reply = newReply({ ...ids, recipient, reply_to, text }, { why: held?.why ?? null, now })
  const writes = [insertReply(reply, secret?.sealer.seal(secret.value, replySecretRow(reply.id)))]
  if (!held) return { writes, work: [replyWork(ids, now)] }
  const data = {
    kind: 'reply',
    reply_id: reply.id,
    job_id: job,
    connection_id: connection.id,
    channel: connection.channel,
    recipient: reply.recipient,
    why: reply.why ?? '',
    url: replyUrl(held.publicUrl, reply.id),
  }
  return { writes, events: [{ type: 'growth.approval.requested', data, subject: reply.id }] }
}

interface Answering {
  origin: ChannelOrigin
  publicUrl: string
  text: string
  now: Date
}

/**
 * What a job says in the channel that it came from. The job may be a child of the one that answers
 * there.
 */
export const answerEffects = (
  job: Pick<Job, 'root_id' | 'on_behalf' | 'taint'>,
  { origin, publicUrl, text: words, now }: Answering,
): Effects => {
  const { replyTo, text, held: why } = toldOf(job, origin, afterDoubt(words, origin))
  const held = why === null ? undefined : { publicUrl, why }
  const connection = { id: origin.connection_id, channel: origin.channel }
  const ids = { job: job.root_id, message: origin.message_id, conversation: origin.conversation_id }
  return replyEffects({
    connection,
    replyTo,
    recipient: recipientOf(origin),
    text,
    held,
    ...ids,
    now,
  })
}

/** The connection can send again: replies that waited for it become due. */
export const wokenReplies = (
  replies: readonly { work: string; tries: number; run_at: Date }[],
  now: Date,
): Effects => {
  const due = replies.map(({ work, tries, run_at }) => ({
    id: work,
    before: run_at,
    runAt: wokenAt(tries, now),
  }))
  return {
    requeued: due
      .filter(({ before, runAt }) => runAt < before)
      .map(({ id, runAt }) => ({ id, runAt })),
  }
}
