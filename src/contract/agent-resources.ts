import { actions } from './agent/actions.ts'
import { analytics } from './agent/analytics.ts'
import { approvals } from './agent/approvals.ts'
import { artifactCapabilities, artifacts } from './agent/artifacts.ts'
import { channelIdentities } from './agent/channel-identities.ts'
import { channelReplies } from './agent/channel-replies.ts'
import { channels } from './agent/channels.ts'
import { clockCapabilities } from './agent/clock.ts'
import { conversationPeople } from './agent/conversation-people.ts'
import { conversations } from './agent/conversations.ts'
import { delegationCapabilities } from './agent/delegation.ts'
import { documentCapabilities, documents } from './agent/documents.ts'
import { conversationFeedback, feedback } from './agent/feedback.ts'
import { fetchCapabilities } from './agent/fetching.ts'
import { inbox } from './agent/inbox.ts'
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
import { area, type Resource } from './op.ts'

/** The workspace agent: for people and programs that talk to it. */
export const agentResources = area('agent', {
  conversations: {
    about: 'Conversations with the agent. Each message starts a job.',
    group: conversations,
  },
  messages: { about: 'A message to the agent, in a new conversation or another.', group: messages },
  conversationPeople: {
    about: 'Who sees a private conversation beside the person who began it.',
    group: conversationPeople,
  },
  conversationFeedback: {
    about: 'What you thought of the answers in a conversation.',
    group: conversationFeedback,
  },
  feedback: { about: 'What people thought of the answers.', group: feedback },
  jobs: { about: 'What the agent does: its jobs, step by step.', group: jobs },
  tasks: { about: 'Tasks of one shot: JSON of a known form from a text.', group: tasks },
  approvals: { about: 'What the agent wants to do and a person must allow.', group: approvals },
  inbox: { about: 'All that waits for a person, in one list.', group: inbox },
  usage: { about: 'What the agent may cost, and has cost.', group: usage },
  analytics: { about: 'What the agent has done, in numbers.', group: analytics },
  schedules: {
    about: 'What the agent does at set times. The capability schedule_task makes them.',
    group: schedules,
  },
  webhookRules: {
    about:
      'Addresses where a signed post from outside starts a job of the agent. The capability create_webhook_rule makes them.',
    group: webhookRules,
  },
  tools: { about: 'What the agent can do.', group: tools },
  toolRules: { about: 'What people have decided about tools.', group: toolRules },
  actions: { about: 'The capabilities of the agent, called by name.', group: actions },
  memories: {
    about: 'What the agent remembers. The capability remember adds to it.',
    group: memories,
  },
  playbooks: { about: 'What the workspace tells the agent to do, in versions.', group: playbooks },
  artifacts: {
    about: 'Files that the agent has made, and who may download them.',
    group: artifacts,
  },
  documents: {
    about: 'Text files of the workspace, which people and the agent search.',
    group: documents,
  },
  mcpServers: {
    about: "Servers of others' tools, which the agent may be let use.",
    group: mcpServers,
  },
  channels: {
    about: 'Where people outside of the app talk to the agent: email, Slack, WhatsApp, SMS.',
    group: channels,
  },
  channelReplies: {
    about: 'What goes out to channels, and what waits for a person there.',
    group: channelReplies,
  },
  channelIdentities: { about: 'Senders in channels who are members.', group: channelIdentities },
  modules: { about: 'Which further tools are offered over MCP.', group: modules },
})

/**
 * The prefix of the ids of all capabilities, which end with the capabilities' names, and of the
 * operation that calls them.
 */
const CAPABILITIES = 'agent.actions'

/**
 * Capabilities: tools of the agent that have no route or command of their own. Other callers use
 * them by name, through `agent.actions.call` or over MCP. The path of each is the path of such a
 * call.
 */
export const capabilityResources = {
  delegation: { prefix: CAPABILITIES, about: 'Sub-agents.', group: delegationCapabilities },
  clock: { prefix: CAPABILITIES, about: 'The time.', group: clockCapabilities },
  fetching: { prefix: CAPABILITIES, about: 'Pages of the web.', group: fetchCapabilities },
  schedules: {
    prefix: CAPABILITIES,
    about: 'What the agent is to do later.',
    group: scheduleCapabilities,
  },
  memories: { prefix: CAPABILITIES, about: 'What is to be remembered.', group: memoryCapabilities },
  playbooks: {
    prefix: CAPABILITIES,
    about: 'What the workspace tells the agent to do.',
    group: playbookCapabilities,
  },
  documents: {
    prefix: CAPABILITIES,
    about: 'What the documents of the workspace say.',
    group: documentCapabilities,
  },
  webhookRules: {
    prefix: CAPABILITIES,
    about: 'What the agent is to do with posts from outside.',
    group: webhookRuleCapabilities,
  },
  artifacts: {
    prefix: CAPABILITIES,
    about: 'Files for people to download.',
    group: artifactCapabilities,
  },
} as const satisfies Record<string, Resource>
