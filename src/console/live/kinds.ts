import type { HintKind } from '#contract/hints'

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

export const readsOf = (kind: string): readonly string[] => READS[kind as HintKind] ?? ['']
