/** A job that a message of a channel has begun says there how it ends, and what it asks of people. */
import { answerEffects } from '#decisions/agent/channel-replies'
import { approvalUrl } from '#domain/agent/approval'
import { type ChannelOrigin, endText, waitingText } from '#domain/agent/channel-answer'
import { pendingUntold, saveTold } from '#store/agent/approvals'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
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

/** Says it in the channel that the job came from. */
export const tell = ({ changes, gate: { now }, channel }: Teller, text: string): void => {
  if (channel) changes.also(answerEffects(changes.job, { ...channel, text, now }))
}

/** The job is over, and has said its last words in its conversation. */
export const tellEnd = ({ changes, gate: { now }, channel }: Teller): void => {
  const { job } = changes
  if (channel && job.parent_id === null) changes.also(answerEffects(job, { ...channel, text: endText(job, changes.said), now }))
}

/** The job begins to wait for people, perhaps as the child of the one that answers. They are told once of what it asks. */
export const tellWaiting = async ({ changes, gate: { now }, channel, sql }: Teller & { sql: Sql }): Promise<void> => {
  if (!channel) return
  const { job } = changes
  const { asked } = await loadNow(sql, { asked: pendingUntold(job.id) })
  if (asked.length === 0) return
  changes.also({ writes: [saveTold(asked, now)] })
  const links = asked.map(({ id, summary }) => ({ summary, url: approvalUrl(channel.publicUrl, id) }))
  changes.also(answerEffects(job, { ...channel, text: waitingText(job, links), now }))
}
