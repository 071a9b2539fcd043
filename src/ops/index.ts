/** Binds every operation to its handler. */
import { agentResources, capabilityResources } from '#contract/agent-resources'
import { appResources } from '#contract/app-resources'
import { growthResources } from '#contract/growth-resources'
import type { Group, Resource } from '#contract/op'
import { operatorResources } from '#contract/operator-resources'
import type { ToolBox } from '#decisions/agent/toolbox'
import { actionHandlers } from './agent/actions.ts'
import { analyticsHandlers } from './agent/analytics.ts'
import { approvalHandlers } from './agent/approvals.ts'
import { artifactCapabilityHandlers, artifactHandlers } from './agent/artifacts.ts'
import { channelIdentityHandlers } from './agent/channel-identities.ts'
import { channelReplyHandlers } from './agent/channel-replies.ts'
import { channelHandlers as agentChannelHandlers } from './agent/channels.ts'
import { clockHandlers } from './agent/clock.ts'
import { conversationPeopleHandlers } from './agent/conversation-people.ts'
import { conversationHandlers } from './agent/conversations.ts'
import { delegationHandlers } from './agent/delegation.ts'
import { documentCapabilityHandlers, documentHandlers } from './agent/documents.ts'
import { conversationFeedbackHandlers, feedbackHandlers } from './agent/feedback.ts'
import { fetchHandlers } from './agent/fetching.ts'
import { inboxHandlers } from './agent/inbox.ts'
import { jobHandlers } from './agent/jobs.ts'
import { mcpServerHandlers } from './agent/mcp-servers.ts'
import { memoryCapabilityHandlers, memoryHandlers } from './agent/memories.ts'
import { messageHandlers } from './agent/messages.ts'
import { moduleHandlers } from './agent/modules.ts'
import { playbookHandlers } from './agent/playbooks.ts'
import { scheduleCapabilityHandlers, scheduleHandlers } from './agent/schedules.ts'
import { taskHandlers } from './agent/tasks.ts'
import type { Handled } from './agent/toolbox/operated.ts'
import { playbookCapabilityHandlers } from './agent/toolbox/playbook-tools.ts'
import { type ToolWording, toolBoxOf } from './agent/toolbox/toolbox.ts'
import { toolHandlers, toolRuleHandlers } from './agent/tools.ts'
import { usageHandlers } from './agent/usage.ts'
import { webhookRuleCapabilityHandlers, webhookRuleHandlers } from './agent/webhook-rules.ts'
import { auditHandlers } from './app/audit.ts'
import { deviceHandlers } from './app/device.ts'
import { eventHandlers } from './app/events.ts'
import { invitationHandlers } from './app/invitations.ts'
import { keyHandlers } from './app/keys.ts'
import { memberHandlers } from './app/members.ts'
import { personHandlers } from './app/person.ts'
import { planHandlers } from './app/plan.ts'
import { sessionHandlers, sessionsHandlers } from './app/session.ts'
import { webhookHandlers } from './app/webhook.ts'
import { workspaceHandlers } from './app/workspace.ts'
import { type Bound, bind } from './engine/bind.ts'
import type { CapabilityParts, Handlers, Parts, World } from './engine/call.ts'
import { downloadSlots } from './engine/download.ts'
import { createPoller } from './engine/waiters.ts'
import { articleHandlers } from './growth/articles.ts'
import { growthAuditHandlers } from './growth/audits.ts'
import { automationHandlers, inFlight, stopAutomation, stopLoad } from './growth/automation.ts'
import { batchHandlers } from './growth/batches.ts'
import { briefHandlers } from './growth/brief.ts'
import { calendarHandlers } from './growth/calendar.ts'
import { growthChannelHandlers } from './growth/channels.ts'
import { appConnectionsHandlers } from './growth/connecting.ts'
import { connectionHandlers, connectionsHandlers } from './growth/connections.ts'
import { countHandlers } from './growth/counts.ts'
import { engagementHandlers } from './growth/engagements.ts'
import { experimentHandlers } from './growth/experiments.ts'
import { hookHandlers } from './growth/hooks.ts'
import { itemHandlers } from './growth/items.ts'
import { learningHandlers } from './growth/learnings.ts'
import { metricHandlers } from './growth/metrics.ts'
import { overviewHandlers } from './growth/overview.ts'
import { growthPlanHandlers } from './growth/plan.ts'
import { productHandlers } from './growth/products.ts'
import { profileHandlers } from './growth/profile.ts'
import { reportHandlers } from './growth/reports.ts'
import { ruleHandlers, ruleRunHandlers } from './growth/rules.ts'
import { sandboxHandlers } from './growth/sandbox.ts'
import { lookingBy } from './growth/shared/looking.ts'
import { overtaking } from './growth/shared/overtaking.ts'
import { signalHandlers } from './growth/signals.ts'
import { targetHandlers } from './growth/targets.ts'
import { authorizationHandlers } from './operator/authorizations.ts'
import { generationHandlers } from './operator/generations.ts'
import { inboundHandlers } from './operator/inbound.ts'

type Add = <G extends Group>(resource: Resource<G>, handlers: Handlers<G>) => void

/** The resources that `list` adds, with their handlers. */
const collected = (list: (add: Add) => void): Handled[] => {
  const pairs: Handled[] = []
  list((resource, handlers) => pairs.push({ resource, handlers: handlers as Handlers<Group> }))
  return pairs
}

const addGrowth = (add: Add, world: Parts) => {
  const looking = lookingBy(world)
  add(growthResources.overview, overviewHandlers(world))
  add(growthResources.brief, briefHandlers)
  add(growthResources.batches, batchHandlers)
  add(growthResources.articles, articleHandlers)
  add(growthResources.items, { ...itemHandlers, look: looking('post') })
  add(growthResources.connection, connectionHandlers)
  add(growthResources.connections, overtaking('growth.connections', connectionsHandlers))
  add(growthResources.profile, profileHandlers)
  add(growthResources.channels, growthChannelHandlers)
  add(growthResources.audits, growthAuditHandlers)
  add(growthResources.hooks, hookHandlers)
  add(growthResources.learnings, learningHandlers)
  add(growthResources.experiments, overtaking('growth.experiments', experimentHandlers))
  add(growthResources.products, productHandlers)
  add(growthResources.reports, reportHandlers)
  add(growthResources.rules, ruleHandlers)
  add(growthResources.ruleRuns, ruleRunHandlers)
  add(growthResources.engagements, {
    ...engagementHandlers(world),
    look: looking('engagement'),
  })
  add(growthResources.targets, targetHandlers)
  add(growthResources.signals, signalHandlers)
  add(growthResources.sandbox, sandboxHandlers(world.sandbox))
  add(growthResources.counts, countHandlers)
  add(growthResources.calendar, calendarHandlers)
  add(growthResources.metrics, metricHandlers)
  add(growthResources.plan, growthPlanHandlers)
  add(growthResources.automation, overtaking('growth.automation', automationHandlers))
}

const addAgent = (add: Add, world: World) => {
  const { tools, models, desk, sealer, mcp, identity, texts } = world
  const { publicUrl } = identity
  const waiters = createPoller()
  add(
    agentResources.conversations,
    conversationHandlers({ tools, models, desk, publicUrl }, waiters),
  )
  add(agentResources.messages, messageHandlers({ tools, models, desk }))
  add(agentResources.conversationPeople, conversationPeopleHandlers)
  add(agentResources.conversationFeedback, conversationFeedbackHandlers)
  add(agentResources.feedback, feedbackHandlers)
  add(agentResources.jobs, jobHandlers({ waiters, publicUrl, tools }))
  add(agentResources.tasks, taskHandlers({ models }))
  add(agentResources.approvals, approvalHandlers({ tools, publicUrl }))
  add(agentResources.inbox, inboxHandlers({ tools }))
  add(agentResources.usage, usageHandlers)
  add(agentResources.analytics, analyticsHandlers(tools))
  add(agentResources.schedules, scheduleHandlers({ models, desk, tools: () => tools }))
  add(agentResources.webhookRules, webhookRuleHandlers({ sealer, tools: () => tools }))
  add(agentResources.tools, toolHandlers(tools))
  add(agentResources.toolRules, toolRuleHandlers(tools))
  add(agentResources.actions, actionHandlers({ tools, publicUrl }))
  add(agentResources.memories, memoryHandlers)
  add(agentResources.playbooks, playbookHandlers)
  add(agentResources.artifacts, artifactHandlers(world))
  add(agentResources.documents, documentHandlers({ publicUrl }))
  add(agentResources.mcpServers, mcpServerHandlers(mcp))
  add(agentResources.channels, agentChannelHandlers(world))
  add(agentResources.channelReplies, channelReplyHandlers({ publicUrl, texts }))
  add(agentResources.channelIdentities, channelIdentityHandlers(world))
  add(agentResources.modules, moduleHandlers)
}

/** Tools of the agent that are no operations of their own. */
const addCapabilities = (add: Add, world: CapabilityParts) => {
  add(capabilityResources.clock, clockHandlers)
  add(capabilityResources.delegation, delegationHandlers(world))
  add(capabilityResources.fetching, fetchHandlers(world))
  add(capabilityResources.schedules, scheduleCapabilityHandlers(world))
  add(capabilityResources.memories, memoryCapabilityHandlers)
  add(capabilityResources.playbooks, playbookCapabilityHandlers(world.identity))
  add(capabilityResources.documents, documentCapabilityHandlers(world.identity))
  add(capabilityResources.webhookRules, webhookRuleCapabilityHandlers(world))
  add(capabilityResources.artifacts, artifactCapabilityHandlers(world))
}

const addApp = (add: Add, world: Parts) => {
  add(appResources.session, sessionHandlers)
  add(appResources.sessions, sessionsHandlers)
  add(appResources.person, personHandlers)
  add(appResources.workspace, workspaceHandlers({ load: stopLoad, stop: stopAutomation, inFlight }))
  add(appResources.members, memberHandlers)
  add(appResources.device, deviceHandlers)
  add(appResources.invitations, invitationHandlers(world.identity.publicUrl))
  add(appResources.connections, appConnectionsHandlers(world))
  add(appResources.events, eventHandlers)
  add(appResources.plan, planHandlers)
  add(appResources.audit, auditHandlers)
  add(appResources.webhook, webhookHandlers(world))
  add(appResources.keys, keyHandlers)
}

/** All operations, in the order of the contract. */
export const createOperations = (world: World): Bound[] => {
  const host = { world, slots: downloadSlots() }
  const all = collected((add) => {
    addGrowth(add, world)
    addAgent(add, world)
    addApp(add, world)
  })
  return all.flatMap(({ resource, handlers }) => bind(host, resource, handlers))
}

/** Capabilities, and the operations that have a tool, as the agent's tools. */
export const createToolBox = (world: CapabilityParts, wording: ToolWording): ToolBox =>
  toolBoxOf(
    world,
    collected((add) => {
      addGrowth(add, world)
      addCapabilities(add, world)
    }),
    wording,
  )

/** Internal operations: not served to clients, but accepted from other processes. */
export const createOperatorOperations = (world: World): Bound[] => {
  const host = { world, slots: downloadSlots() }
  return [
    ...bind(host, operatorResources.authorizations, authorizationHandlers(world)),
    ...bind(host, operatorResources.generations, generationHandlers),
    ...bind(host, operatorResources.inbound, inboundHandlers(world)),
  ]
}
