/** All resources and operations, in the order of the documentation. */
import { isScope } from '#kernel/scopes'
import { actions } from './agent/actions.ts'
import { analytics } from './agent/analytics.ts'
import { approvals } from './agent/approvals.ts'
import { artifactCapabilities, artifacts } from './agent/artifacts.ts'
import { channelIdentities } from './agent/channel-identities.ts'
import { channelReplies } from './agent/channel-replies.ts'
import { channels as agentChannels } from './agent/channels.ts'
import { clockCapabilities } from './agent/clock.ts'
import { conversationPeople } from './agent/conversation-people.ts'
import { conversations } from './agent/conversations.ts'
import { delegationCapabilities } from './agent/delegation.ts'
import { documentCapabilities, documents } from './agent/documents.ts'
import { conversationFeedback, feedback } from './agent/feedback.ts'
import { fetchCapabilities } from './agent/fetching.ts'
import { jobs } from './agent/jobs.ts'
import { mcpServers } from './agent/mcp-servers.ts'
import { memories, memoryCapabilities } from './agent/memories.ts'
import { messages } from './agent/messages.ts'
import { modules } from './agent/modules.ts'
import { playbookCapabilities, playbooks } from './agent/playbooks.ts'
import { scheduleCapabilities, schedules } from './agent/schedules.ts'
import { tasks } from './agent/tasks.ts'
import { toolRules, tools } from './agent/tools.ts'
import { usage } from './agent/usage.ts'
import { webhookRuleCapabilities, webhookRules } from './agent/webhook-rules.ts'
import { audit } from './app/audit.ts'
import { device } from './app/device.ts'
import { invitations } from './app/invitations.ts'
import { keys } from './app/keys.ts'
import { members } from './app/members.ts'
import { person } from './app/person.ts'
import { plan } from './app/plan.ts'
import { session, sessions } from './app/session.ts'
import { webhook } from './app/webhook.ts'
import { workspace } from './app/workspace.ts'
import { articles } from './growth/articles.ts'
import { audits } from './growth/audits.ts'
import { automation } from './growth/automation.ts'
import { batches } from './growth/batches.ts'
import { brief } from './growth/brief.ts'
import { calendar } from './growth/calendar.ts'
import { channels } from './growth/channels.ts'
import { appConnections } from './growth/connecting.ts'
import { connection, connections } from './growth/connections.ts'
import { counts } from './growth/counts.ts'
import { engagements } from './growth/engagements.ts'
import { experiments } from './growth/experiments.ts'
import { hooks } from './growth/hooks.ts'
import { items } from './growth/items.ts'
import { learnings } from './growth/learnings.ts'
import { metrics } from './growth/metrics.ts'
import { overview } from './growth/overview.ts'
import { plan as growthPlan } from './growth/plan.ts'
import { products } from './growth/products.ts'
import { profile } from './growth/profile.ts'
import { reports } from './growth/reports.ts'
import { ruleRuns, rules } from './growth/rules.ts'
import { sandbox } from './growth/sandbox.ts'
import { signals } from './growth/signals.ts'
import { targets } from './growth/targets.ts'
import { type NamedOp, named, type Resource } from './op.ts'

/** For programs and agents, by API key. */
export const growthResources = {
  overview: { prefix: 'growth.overview', about: 'The whole workspace at a glance.', group: overview },
  brief: { prefix: 'growth.brief', about: 'What to do next.', group: brief },
  batches: { prefix: 'growth.batches', about: 'Batches of drafted posts, made from the growth profile.', group: batches },
  articles: { prefix: 'growth.articles', about: 'Long-form articles, each posted as one long post.', group: articles },
  items: {
    prefix: 'growth.items',
    about: 'Posts and articles on their way from draft to the network. Nothing goes out without approval.',
    group: items,
  },
  connection: { prefix: 'growth.connection', about: 'The default account on the network.', group: connection },
  connections: { prefix: 'growth.connections', about: 'All connected accounts.', group: connections },
  profile: { prefix: 'growth.profile', about: 'Who the workspace is, who it writes for, and how.', group: profile },
  channels: { prefix: 'growth.channels', about: 'Where, how often and in what form to post.', group: channels },
  audits: { prefix: 'growth.audits', about: 'What worked and what flopped, by the numbers.', group: audits },
  hooks: { prefix: 'growth.hooks', about: 'Ways to open a post, and how each performs.', group: hooks },
  learnings: { prefix: 'growth.learnings', about: 'What worked and what flopped. Active learnings guide every draft.', group: learnings },
  experiments: { prefix: 'growth.experiments', about: 'Controlled comparisons of ways to write.', group: experiments },
  products: {
    prefix: 'growth.products',
    about: 'What you offer. Drafts may mention active products, never archived ones.',
    group: products,
  },
  reports: { prefix: 'growth.reports', about: 'Weekly reports: the numbers, and what to do next.', group: reports },
  rules: {
    prefix: 'growth.rules',
    about: 'Automation rules, which draft when something happens. They never approve or post.',
    group: rules,
  },
  ruleRuns: { prefix: 'growth.ruleRuns', about: 'What each rule did, or why it did not act.', group: ruleRuns },
  engagements: {
    prefix: 'growth.engagements',
    about: "Replies, quotes, reposts and likes of other people's posts, each behind approval.",
    group: engagements,
  },
  targets: { prefix: 'growth.targets', about: 'Accounts on the network whose posts are watched.', group: targets },
  signals: { prefix: 'growth.signals', about: 'Posts by targets that may deserve a response.', group: signals },
  sandbox: { prefix: 'growth.sandbox', about: 'The built-in network: what stands there, and acting as its residents.', group: sandbox },
  counts: { prefix: 'growth.counts', about: 'How much there is in each state.', group: counts },
  calendar: { prefix: 'growth.calendar', about: 'What is scheduled and posted, beside the slots of the cadences.', group: calendar },
  metrics: { prefix: 'growth.metrics', about: 'The numbers of posts, by day or week.', group: metrics },
  plan: { prefix: 'growth.plan', about: 'What the plan allows, and what is used.', group: growthPlan },
  automation: { prefix: 'growth.automation', about: 'The kill switch for everything unattended.', group: automation },
} as const satisfies Record<string, Resource>

/** The prefix of all capabilities, whose ids end with their names, and of the operation that calls them. */
const CAPABILITIES = 'agent.actions'

/** The workspace agent: for people and programs that talk to it. */
export const agentResources = {
  conversations: { prefix: 'agent.conversations', about: 'Conversations with the agent. Each message starts a job.', group: conversations },
  messages: { prefix: 'agent.messages', about: 'A message to the agent, in a new conversation or another.', group: messages },
  conversationPeople: {
    prefix: 'agent.conversationPeople',
    about: 'Who sees a private conversation beside the person who began it.',
    group: conversationPeople,
  },
  conversationFeedback: {
    prefix: 'agent.conversationFeedback',
    about: 'What you thought of the answers in a conversation.',
    group: conversationFeedback,
  },
  feedback: { prefix: 'agent.feedback', about: 'What people thought of the answers.', group: feedback },
  jobs: { prefix: 'agent.jobs', about: 'What the agent does: its jobs, step by step.', group: jobs },
  tasks: { prefix: 'agent.tasks', about: 'Tasks of one shot: JSON of a known form from a text.', group: tasks },
  approvals: { prefix: 'agent.approvals', about: 'What the agent wants to do and a person must allow.', group: approvals },
  usage: { prefix: 'agent.usage', about: 'What the agent may cost, and has cost.', group: usage },
  analytics: { prefix: 'agent.analytics', about: 'What the agent has done, in numbers.', group: analytics },
  schedules: {
    prefix: 'agent.schedules',
    about: 'What the agent does at set times. The capability schedule_task makes them.',
    group: schedules,
  },
  webhookRules: {
    prefix: 'agent.webhookRules',
    about: 'Addresses where a signed post from outside starts a job of the agent. The capability create_webhook_rule makes them.',
    group: webhookRules,
  },
  tools: { prefix: 'agent.tools', about: 'What the agent can do.', group: tools },
  toolRules: { prefix: 'agent.toolRules', about: 'What people have decided about tools.', group: toolRules },
  actions: { prefix: CAPABILITIES, about: 'The capabilities of the agent, called by name.', group: actions },
  memories: { prefix: 'agent.memories', about: 'What the agent remembers. The capability remember adds to it.', group: memories },
  playbooks: { prefix: 'agent.playbooks', about: 'What the workspace tells the agent to do, in versions.', group: playbooks },
  artifacts: { prefix: 'agent.artifacts', about: 'Files that the agent has made, and who may download them.', group: artifacts },
  documents: { prefix: 'agent.documents', about: 'Text files of the workspace, which people and the agent search.', group: documents },
  mcpServers: { prefix: 'agent.mcpServers', about: "Servers of others' tools, which the agent may be let use.", group: mcpServers },
  channels: {
    prefix: 'agent.channels',
    about: 'Where people outside of the app talk to the agent: email, Slack, WhatsApp, SMS.',
    group: agentChannels,
  },
  channelReplies: {
    prefix: 'agent.channelReplies',
    about: 'What goes out to channels, and what waits for a person there.',
    group: channelReplies,
  },
  channelIdentities: { prefix: 'agent.channelIdentities', about: 'Senders in channels who are members.', group: channelIdentities },
  modules: { prefix: 'agent.modules', about: 'Which further tools are offered over MCP.', group: modules },
} as const satisfies Record<string, Resource>

/**
 * Capabilities: tools of the agent, with no route or command of their own. Others call them by name, through `agent.actions.call` or over
 * MCP. The path of each is that of such a call.
 */
export const capabilityResources = {
  delegation: { prefix: CAPABILITIES, about: 'Sub-agents.', group: delegationCapabilities },
  clock: { prefix: CAPABILITIES, about: 'The time.', group: clockCapabilities },
  fetching: { prefix: CAPABILITIES, about: 'Pages of the web.', group: fetchCapabilities },
  schedules: { prefix: CAPABILITIES, about: 'What the agent is to do later.', group: scheduleCapabilities },
  memories: { prefix: CAPABILITIES, about: 'What is to be remembered.', group: memoryCapabilities },
  playbooks: { prefix: CAPABILITIES, about: 'What the workspace tells the agent to do.', group: playbookCapabilities },
  documents: { prefix: CAPABILITIES, about: 'What the documents of the workspace say.', group: documentCapabilities },
  webhookRules: { prefix: CAPABILITIES, about: 'What the agent is to do with posts from outside.', group: webhookRuleCapabilities },
  artifacts: { prefix: CAPABILITIES, about: 'Files for people to download.', group: artifactCapabilities },
} as const satisfies Record<string, Resource>

/** For signed-in people. API keys have no access. */
export const appResources = {
  session: { prefix: 'app.session', about: 'Signing in and out.', group: session },
  sessions: { prefix: 'app.sessions', about: 'Your active sessions.', group: sessions },
  person: { prefix: 'app.person', about: 'Your account, across workspaces.', group: person },
  workspace: { prefix: 'app.workspace', about: 'The workspace itself.', group: workspace },
  members: { prefix: 'app.members', about: 'The members of the workspace and their roles.', group: members },
  device: { prefix: 'app.device', about: 'Approving a device by its code.', group: device },
  invitations: { prefix: 'app.invitations', about: 'Inviting people to the workspace.', group: invitations },
  connections: { prefix: 'app.connections', about: 'Connecting and disconnecting accounts on networks.', group: appConnections },
  plan: { prefix: 'app.plan', about: 'The limits of the plan, and what is used.', group: plan },
  audit: { prefix: 'app.audit', about: 'Who changed what, and when.', group: audit },
  webhook: { prefix: 'app.webhook', about: 'The endpoint that receives events as they happen.', group: webhook },
  keys: { prefix: 'app.keys', about: 'API keys, for programs and agents.', group: keys },
} as const satisfies Record<string, Resource>

export const resources: Resource[] = [...Object.values(growthResources), ...Object.values(agentResources), ...Object.values(appResources)]

export const operations: NamedOp[] = resources.flatMap((resource) => named(resource))

export const capabilities: NamedOp[] = Object.values(capabilityResources).flatMap((resource) => named(resource))

/** The operations that API keys can call, given the scope. */
export const keyOperations: NamedOp[] = operations.filter(({ scope }) => isScope(scope))
