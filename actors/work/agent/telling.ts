/** A job that a message of a channel has begun says there how it ends, and what it asks of people. */
import { replyEffects } from '#decisions/agent/channel-replies'
import { approvalUrl } from '#domain/agent/approval'
import { type ChannelOrigin, endText, recipientOf, waitingText } from '#domain/agent/channel-answer'
import { isAnswerHeld } from '#domain/agent/channel-trust'
import { pendingSince } from '#store/agent/approvals'
import type { Sql } from '#store/engine/db'
import type { Effects, Gate } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { JobChanges } from './changes.ts'

/** Where the answer of a job goes. */
export interface Telling {
  origin: ChannelOrigin
  publicUrl: string
}

interface Teller {
  changes: JobChanges
  gate: Pick<Gate, 'now'>
  channel: Telling | undefined
}

/** The job, which may be a child of the one that answers, has this to say. */
const said = ({ changes: { job }, gate: { now } }: Teller, { origin, publicUrl }: Telling, text: string): Effects =>
  replyEffects({
    ...{
      connection: { id: origin.connection_id, channel: origin.channel },
      replyTo: origin.reply_to,
      recipient: recipientOf(origin),
      text,
    },
    ...{ held: isAnswerHeld(job.on_behalf, origin.config) ? { publicUrl } : undefined },
    ...{ job: job.root_id, message: origin.message_id, conversation: origin.conversation_id, now },
  })

/** The job is over, and has said its last words in its conversation. */
export const tellEnd = (at: Teller): void => {
  const { job } = at.changes
  if (at.channel && job.parent_id === null) at.changes.also(said(at, at.channel, endText(job, at.changes.said)))
}

/** The job begins to wait for people. They are told once of what it asks. */
export const tellWaiting = async (at: Teller & { sql: Sql }): Promise<void> => {
  if (!at.channel) return
  const { origin, publicUrl } = at.channel
  const { asked } = await loadNow(at.sql, { asked: pendingSince(at.changes.job.id, origin.told_at) })
  const links = asked.map(({ id, summary }) => ({ summary, url: approvalUrl(publicUrl, id) }))
  at.changes.also(said(at, at.channel, waitingText(at.changes.job, links)))
}
