/**
 * What live hints name: kinds of records, and who may be told that one has changed. Every resource,
 * every id in an event and every declared record has a row here.
 */

import { approvals } from './agent/approvals.ts'
import { artifacts } from './agent/artifacts.ts'
import { channelIdentities } from './agent/channel-identities.ts'
import { channelReplies } from './agent/channel-replies.ts'
import { channels } from './agent/channels.ts'
import { conversations } from './agent/conversations.ts'
import { documents } from './agent/documents.ts'
import { feedback } from './agent/feedback.ts'
import { jobs } from './agent/jobs.ts'
import { mcpServers } from './agent/mcp-servers.ts'
import { memories } from './agent/memories.ts'
import { modules } from './agent/modules.ts'
import { playbooks } from './agent/playbooks.ts'
import { schedules } from './agent/schedules.ts'
import { tools } from './agent/tools.ts'
import { usage } from './agent/usage.ts'
import { webhookRules } from './agent/webhook-rules.ts'
import type { agentResources } from './agent-resources.ts'
import { invitations } from './app/invitations.ts'
import { keys } from './app/keys.ts'
import { members } from './app/members.ts'
import { sessions } from './app/session.ts'
import { webhook } from './app/webhook.ts'
import { workspace } from './app/workspace.ts'
import type { appResources } from './app-resources.ts'
import { articles } from './growth/articles.ts'
import { audits } from './growth/audits.ts'
import { automation } from './growth/automation.ts'
import { batches } from './growth/batches.ts'
import { growthChannelOperations } from './growth/channels.ts'
import { connections } from './growth/connections.ts'
import { engagements } from './growth/engagements.ts'
import { experiments } from './growth/experiments.ts'
import { items } from './growth/items.ts'
import { learnings } from './growth/learnings.ts'
import { products } from './growth/products.ts'
import { profile } from './growth/profile.ts'
import { reports } from './growth/reports.ts'
import { ruleRuns, rules } from './growth/rules.ts'
import { sandbox } from './growth/sandbox.ts'
import { signals } from './growth/signals.ts'
import { targets } from './growth/targets.ts'
import type { growthResources } from './growth-resources.ts'
import type { Op } from './op.ts'

interface HintRule {
  /** The operation that reads these records. Whoever can call it is told of them. */
  read: Pick<Op, 'scope' | 'also' | 'roles'>
  /** A record may belong to a private conversation: then only those who see that are told. */
  private?: true
  /** Told to owners in person alone, whoever else may read the records. */
  owners?: true
}

export const hintRules = {
  batch: { read: batches.get },
  article: { read: articles.get },
  item: { read: items.get },
  connection: { read: connections.list },
  profile: { read: profile.get },
  growth_channel: { read: growthChannelOperations.list },
  growth_audit: { read: audits.get },
  learning: { read: learnings.get },
  experiment: { read: experiments.get },
  product: { read: products.get },
  report: { read: reports.get },
  rule: { read: rules.get },
  rule_run: { read: ruleRuns.list },
  engagement: { read: engagements.get },
  target: { read: targets.get },
  signal: { read: signals.get },
  sandbox: { read: sandbox.timeline },
  automation: { read: automation.get },
  conversation: { read: conversations.get, private: true },
  job: { read: jobs.get, private: true },
  approval: { read: approvals.get, private: true },
  artifact: { read: artifacts.get },
  feedback: { read: feedback.list, private: true },
  usage: { read: usage.get },
  schedule: { read: schedules.get },
  webhook_rule: { read: webhookRules.get },
  tool_rule: { read: tools.list },
  memory: { read: memories.get },
  playbook: { read: playbooks.get },
  document: { read: documents.get },
  mcp_server: { read: mcpServers.get },
  channel: { read: channels.get },
  channel_reply: { read: channelReplies.get },
  channel_identity: { read: channelIdentities.list },
  module: { read: modules.list },
  member: { read: members.list, owners: true },
  invitation: { read: invitations.list, owners: true },
  session: { read: sessions.list, owners: true },
  key: { read: keys.list, owners: true },
  webhook: { read: webhook.get, owners: true },
  workspace: { read: workspace.get, owners: true },
} as const satisfies Record<string, HintRule>

export type HintKind = keyof typeof hintRules
export const hintKinds = Object.keys(hintRules) as HintKind[]

type PrefixOf<Resources> = {
  [N in keyof Resources]: Resources[N] extends { prefix: infer P } ? P : never
}[keyof Resources]
type Prefix =
  | PrefixOf<typeof growthResources>
  | PrefixOf<typeof agentResources>
  | PrefixOf<typeof appResources>

/** The kind of record that the operations of a resource change. Null: they change nothing. */
export const kindOfResource: Record<Prefix, HintKind | null> = {
  'growth.overview': null,
  'growth.brief': null,
  'growth.batches': 'batch',
  'growth.articles': 'article',
  'growth.items': 'item',
  'growth.connection': 'connection',
  'growth.connections': 'connection',
  'growth.profile': 'profile',
  'growth.channels': 'growth_channel',
  'growth.audits': 'growth_audit',
  'growth.hooks': null,
  'growth.learnings': 'learning',
  'growth.experiments': 'experiment',
  'growth.products': 'product',
  'growth.reports': 'report',
  'growth.rules': 'rule',
  'growth.ruleRuns': 'rule_run',
  'growth.engagements': 'engagement',
  'growth.targets': 'target',
  'growth.signals': 'signal',
  'growth.sandbox': 'sandbox',
  'growth.counts': null,
  'growth.calendar': null,
  'growth.metrics': null,
  'growth.plan': null,
  'growth.automation': 'automation',
  'agent.conversations': 'conversation',
  'agent.messages': 'conversation',
  'agent.conversationPeople': 'conversation',
  'agent.conversationFeedback': 'feedback',
  'agent.feedback': 'feedback',
  'agent.jobs': 'job',
  'agent.tasks': 'job',
  'agent.approvals': 'approval',
  'agent.inbox': null,
  'agent.usage': 'usage',
  'agent.analytics': null,
  'agent.schedules': 'schedule',
  'agent.webhookRules': 'webhook_rule',
  'agent.tools': null,
  'agent.toolRules': 'tool_rule',
  'agent.actions': 'job',
  'agent.memories': 'memory',
  'agent.playbooks': 'playbook',
  'agent.artifacts': 'artifact',
  'agent.documents': 'document',
  'agent.mcpServers': 'mcp_server',
  'agent.channels': 'channel',
  'agent.channelReplies': 'channel_reply',
  'agent.channelIdentities': 'channel_identity',
  'agent.modules': 'module',
  'app.session': 'session',
  'app.sessions': 'session',
  'app.person': 'member',
  'app.workspace': 'workspace',
  'app.members': 'member',
  'app.device': 'key',
  'app.invitations': 'invitation',
  'app.connections': 'connection',
  'app.plan': null,
  'app.events': null,
  'app.audit': null,
  'app.webhook': 'webhook',
  'app.keys': 'key',
}

/** The same for what the audit records of the server's own work, by what the names begin with. */
export const kindOfOwnWork: Record<string, HintKind> = {
  'channel.reply': 'channel_reply',
  'operator.invitations': 'invitation',
  'operator.keys': 'key',
  'operator.person': 'member',
  webhook: 'webhook',
  work: 'workspace',
}

/** What people change without a letter, where it is records of several kinds. */
export const kindsOfDeed: Record<string, readonly HintKind[]> = {
  'app.invitations.accept': ['invitation', 'member'],
  'app.device.issued': ['key', 'session'],
  'app.device.revoke': ['key', 'session'],
  'app.person.delete': ['member', 'key', 'session', 'invitation'],
  'app.person.resetPassword': ['member', 'key', 'session'],
}

/** The kinds of the records that the data of events name, by the name of the id. */
export const kindOfEventId: Record<string, HintKind | null> = {
  batch_id: 'batch',
  item_id: 'item',
  article_id: 'article',
  engagement_id: 'engagement',
  playbook_id: 'playbook',
  version_id: null,
  approval_id: 'approval',
  job_id: 'job',
  last_job_id: null,
  conversation_id: 'conversation',
  reply_id: 'channel_reply',
  connection_id: 'channel',
  schedule_id: 'schedule',
  external_id: null,
}

/** What an event concerns whose data names no record. */
export const kindOfBareEvent: Partial<Record<string, HintKind>> = {
  'agent.budget.warning': 'usage',
  'webhook.test': 'webhook',
}

/** A record that a row belongs to, and the column with its id. Null: there is one a workspace. */
export type RowHint = readonly [kind: HintKind, column: string | null]

/**
 * What changes when a row of a record is written. Empty: another row says so, which is written with
 * it. An approval whose id is not known is named by its job.
 */
export const rowHints: Record<string, readonly RowHint[]> = {
  agent_step: [['job', 'job_id']],
  agent_job: [
    ['job', 'id'],
    ['conversation', 'conversation_id'],
  ],
  invitation: [['invitation', 'id']],
  session: [['session', 'id']],
  api_key: [['key', 'id']],
  agent_approval: [['approval', 'id']],
  agent_conversation: [['conversation', 'id']],
  agent_message: [['conversation', 'conversation_id']],
  document_passage: [['document', 'document_id']],
  channel_connection: [['channel', 'id']],
  channel_identity: [['channel_identity', 'id']],
  channel_message: [['channel', 'connection_id']],
  channel_reply: [['channel_reply', 'id']],
  mcp_server: [['mcp_server', 'id']],
  mcp_tool: [['mcp_server', 'server_id']],
  agent_tool_rule: [['tool_rule', 'id']],
  webhook_rule: [['webhook_rule', 'id']],
  agent_schedule: [['schedule', 'id']],
  artifact: [['artifact', 'id']],
  artifact_share: [['artifact', 'artifact_id']],
  document: [['document', 'id']],
  agent_feedback: [['feedback', 'id']],
  agent_memory: [['memory', 'id']],
  playbook: [['playbook', 'id']],
  playbook_version: [['playbook', 'playbook_id']],
  article: [
    ['article', 'id'],
    ['item', 'item_id'],
  ],
  attempt: [
    ['item', 'item_id'],
    ['engagement', 'engagement_id'],
  ],
  batch: [['batch', 'id']],
  comment: [['item', 'item_id']],
  connection: [['connection', 'id']],
  engagement: [['engagement', 'id']],
  experiment: [['experiment', 'id']],
  growth_audit: [['growth_audit', 'id']],
  growth_channel: [['growth_channel', 'id']],
  item: [['item', 'id']],
  learning: [['learning', 'id']],
  item_metric: [['item', 'item_id']],
  product: [['product', 'id']],
  profile: [['profile', null]],
  profile_revision: [['profile', null]],
  report: [['report', 'id']],
  // The row of its item or engagement is written with it.
  revision: [],
  rule: [['rule', 'id']],
  rule_run: [['rule_run', 'id']],
  signal: [['signal', 'id']],
  target: [['target', 'id']],
}
