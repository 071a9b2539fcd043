import type { QueryKey } from '@tanstack/react-query'
import type { HintKind } from '#contract/hints'
import type { Hint } from './stream.ts'

/** Which reads a change of a record concerns: by the beginnings of their operations' ids. */

/** What counts or lists records of several kinds. */
const OVERVIEWS = ['agent.inbox', 'growth.counts', 'growth.overview', 'growth.brief']
const POSTS = ['growth.items', 'growth.calendar', ...OVERVIEWS]

/** Kinds of hints; the others concern everything that is shown. */
const READS: Partial<Record<HintKind, readonly string[]>> = {
  item: POSTS,
  article: ['growth.articles', ...POSTS],
  batch: ['growth.batches', ...POSTS],
  connection: ['growth.connection', ...POSTS],
  growth_channel: ['growth.channels', ...POSTS],
  engagement: ['growth.engagements', ...OVERVIEWS],
  automation: ['growth.automation', ...OVERVIEWS],
  approval: ['agent.approvals', ...OVERVIEWS],
  job: ['agent.jobs', 'agent.approvals', ...OVERVIEWS],
  conversation: ['agent.conversations'],
  playbook: ['agent.playbooks', ...OVERVIEWS],
  mcp_server: ['agent.mcpServers', ...OVERVIEWS],
  tool_rule: ['agent.tools', 'agent.toolRules', 'agent.mcpServers', ...OVERVIEWS],
  channel: ['agent.channels', ...OVERVIEWS],
  channel_reply: ['agent.channelReplies', ...OVERVIEWS],
  channel_identity: ['agent.channelIdentities'],
  key: ['app.keys'],
  webhook: ['app.webhook'],
  session: ['app.sessions'],
}

/** Kinds whose own reads name one record: those of another one are as they were. */
const ONE_RECORD: Partial<Record<HintKind, string>> = {
  item: 'growth.items.',
  engagement: 'growth.engagements.',
}

export type Changed = Pick<Hint, 'kind' | 'id'>

/** Whether the change concerns the read with this key: the operation, and its input. */
export const concerns = ({ kind, id }: Changed, [operation, input]: QueryKey): boolean => {
  const name = String(operation)
  const prefixes = READS[kind as HintKind] ?? ['']
  if (!prefixes.some((prefix) => name.startsWith(prefix))) return false
  const own = ONE_RECORD[kind as HintKind]
  const about = (input as { id?: unknown } | undefined)?.id
  if (own === undefined || !name.startsWith(own)) return true
  return id === null || about === undefined || about === id
}
