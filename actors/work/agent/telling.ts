/**
 * A job that a message of a channel has begun says there, once, what it asks of people: perhaps as
 * the child of the one that answers.
 */
import { waitingText } from '#domain/agent/channel/answer'
import { approvalUrl } from '#domain/agent/job/approval'
import { decidersOf, decidersText } from '#kernel/deciders'
import { pendingUntold, saveTold } from '#store/agent/approvals'
import { decidersPart } from '#store/app/members'
import type { Effects } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { At } from './at.ts'
import type { AgentDeps } from './deps.ts'

export const waitingAnswer = async (
  { toolBox }: Pick<AgentDeps, 'toolBox'>,
  { job, gate: { now }, channel, sql, caller }: At,
): Promise<{ tells?: string; effects?: Effects }> => {
  if (!channel) return {}
  const { asked, members } = await loadNow(sql, {
    asked: pendingUntold(job.id),
    members: decidersPart,
  })
  if (asked.length === 0) return {}
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
  return { tells: waitingText(job, links), effects: { writes: [saveTold(asked, now)] } }
}
