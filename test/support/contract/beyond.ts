/** The operations that the API documents leave out. */

/**
 * Operations of growth: the documents show no single records except generations, and no way to
 * change a text or to take it back. One line for each file of the contract.
 */
const ofGrowth = [
  // Single records, and what a workspace has one of.
  ...[
    'growth.targets.get',
    'growth.signals.get',
    'growth.products.get',
    'growth.learnings.get',
    'growth.rules.get',
    'growth.experiments.get',
  ],
  ...[
    'growth.profile.get',
    'growth.channels.list',
    'growth.automation.get',
    'growth.plan.get',
    'growth.profile.revisions',
  ],
  // item-reading
  ...['growth.items.get', 'growth.items.look'],
  // engagement-reading
  ...['growth.engagements.get', 'growth.engagements.revisions', 'growth.engagements.look'],
  // sandbox
  ...['growth.sandbox.timeline', 'growth.sandbox.post', 'growth.sandbox.reply'],
  // engagement-life
  ...['growth.engagements.edit', 'growth.engagements.reopen', 'growth.engagements.done'],
  ...['growth.engagements.remove', 'growth.engagements.restore'],
  // item-bulk
  ...['growth.items.bulk'],
  // item-life
  ...['growth.items.reopen', 'growth.items.remove', 'growth.items.restore'],
  // rules, products, learnings, targets
  ...[
    'growth.rules.remove',
    'growth.products.remove',
    'growth.learnings.remove',
    'growth.targets.remove',
  ],
  // item-comments
  ...['growth.items.comment', 'growth.items.comments', 'growth.items.uncomment'],
  // lists, and numbers
  ...['growth.counts.get', 'growth.calendar.get', 'growth.metrics.list', 'growth.items.metrics'],
  // item-texts
  ...[
    'growth.items.create',
    'growth.items.edit',
    'growth.items.duplicate',
    'growth.items.revisions',
  ],
  // item-preview
  'growth.items.preview',
  // item-redrafts
  'growth.items.redraft',
  // generations
  ...[
    'growth.batches.cancel',
    'growth.articles.cancel',
    'growth.audits.cancel',
    'growth.audits.list',
  ],
  ...['growth.reports.cancel', 'growth.reports.get'],
]

/**
 * Operations of the agent: the documents show no way to decide, to follow a job, or to end a
 * conversation.
 */
const ofAgent = [
  ...[
    'agent.conversations.update',
    'agent.conversations.messages',
    'agent.jobs.list',
    'agent.jobs.events',
  ],
  ...[
    'agent.conversations.events',
    'agent.conversations.remove',
    'agent.conversationPeople.add',
    'agent.conversationPeople.remove',
  ],
  'agent.inbox.list',
  ...['agent.approvals.get', 'agent.approvals.approve', 'agent.approvals.reject'],
  ...['agent.tools.list', 'agent.tools.get', 'agent.toolRules.set', 'agent.toolRules.remove'],
  ...[
    'agent.schedules.list',
    'agent.schedules.get',
    'agent.schedules.update',
    'agent.schedules.remove',
    'agent.schedules.run',
  ],
  ...['agent.memories.list', 'agent.memories.get', 'agent.memories.remove'],
  ...[
    'agent.webhookRules.list',
    'agent.webhookRules.get',
    'agent.webhookRules.update',
    'agent.webhookRules.remove',
  ],
  ...['agent.webhookRules.rotate', 'agent.webhookRules.reveal'],
  ...[
    'agent.messages.send',
    'agent.modules.list',
    'agent.modules.set',
    'agent.artifacts.create',
    'agent.documents.search',
  ],
  ...['agent.channels.get', 'agent.channels.check'],
  ...[
    'agent.channelReplies.list',
    'agent.channelReplies.get',
    'agent.channelReplies.send',
    'agent.channelReplies.discard',
  ],
  'agent.channelReplies.settle',
  'agent.playbooks.version',
  ...[
    'agent.channelIdentities.linkCode',
    'agent.channelIdentities.list',
    'agent.channelIdentities.remove',
  ],
  ...['agent.mcpServers.get', 'agent.mcpServers.update', 'agent.mcpServers.refresh'],
]

/**
 * Whether the API documents leave this operation out. They call some operations "the app" and show
 * none of those.
 */
export const isExtension = (id: string): boolean =>
  id.startsWith('app.') || ofAgent.includes(id) || ofGrowth.includes(id)
