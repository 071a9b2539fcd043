/**
 * A job that a message of a channel has begun says there how it ends, and what it asks of people.
 */
import { answerEffects } from '#decisions/agent/channel-replies'
import type { ToolCaller } from '#decisions/agent/toolbox'
import { type ChannelOrigin, endText, waitingText } from '#domain/agent/channel/answer'
import { approvalUrl } from '#domain/agent/job/approval'
import { decidersOf, decidersText } from '#kernel/deciders'
import { pendingUntold, saveTold } from '#store/agent/approvals'
import { decidersPart } from '#store/app/members'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { JobChanges } from './changes.ts'
import type { AgentDeps } from './deps.ts'

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
  if (channel && job.parent_id === null)
    changes.also(answerEffects(job, { ...channel, text: endText(job, changes.said), now }))
}

/**
 * The job begins to wait for people, perhaps as the child of the one that answers. They are told
 * once of what it asks.
 */
export const tellWaiting = async (
  { toolBox }: Pick<AgentDeps, 'toolBox'>,
  { changes, gate: { now }, channel, sql, caller }: Teller & { sql: Sql; caller: ToolCaller },
): Promise<void> => {
  if (!channel) return
  const { job } = changes
  const { asked, members } = await loadNow(sql, {
    asked: pendingUntold(job.id),
    members: decidersPart,
  })
  if (asked.length === 0) return
  changes.also({ writes: [saveTold(asked, now)] })
  const role = caller.principal.member?.role
  const links = asked.map(({ id, summary, tool_name: tool }) => {
    const deciders = decidersOf(toolBox().roles(tool), members)
    // Where others read along, nobody is named.
    const others =
      role && deciders.roles.includes(role)
        ? undefined
        : decidersText(deciders, { named: !channel.origin.is_shared })
    return { summary, url: approvalUrl(channel.publicUrl, id), others }
  })
  changes.also(answerEffects(job, { ...channel, text: waitingText(job, links), now }))
}
