/** Binds every operation to its handler. */
import { appResources, growthResources } from '#contract/index'
import { operatorResources } from '#contract/operator'
import { auditHandlers } from './app/audit.ts'
import { deviceHandlers } from './app/device.ts'
import { invitationHandlers } from './app/invitations.ts'
import { keyHandlers } from './app/keys.ts'
import { memberHandlers } from './app/members.ts'
import { personHandlers } from './app/person.ts'
import { planHandlers } from './app/plan.ts'
import { sessionHandlers, sessionsHandlers } from './app/session.ts'
import { webhookHandlers } from './app/webhook.ts'
import { workspaceHandlers } from './app/workspace.ts'
import { type Bound, bind } from './bind.ts'
import type { World } from './call.ts'
import { downloadSlots } from './download.ts'
import { articleHandlers } from './growth/articles.ts'
import { growthAuditHandlers } from './growth/audits.ts'
import { automationHandlers, inFlight, stopAutomation, stopLoad } from './growth/automation.ts'
import { batchHandlers } from './growth/batches.ts'
import { briefHandlers } from './growth/brief.ts'
import { channelHandlers } from './growth/channels.ts'
import { appConnectionsHandlers } from './growth/connecting.ts'
import { connectionHandlers, connectionsHandlers } from './growth/connections.ts'
import { engagementHandlers } from './growth/engagements.ts'
import { experimentHandlers } from './growth/experiments.ts'
import { hookHandlers } from './growth/hooks.ts'
import { itemHandlers } from './growth/items.ts'
import { learningHandlers } from './growth/learnings.ts'
import { overviewHandlers } from './growth/overview.ts'
import { productHandlers } from './growth/products.ts'
import { profileHandlers } from './growth/profile.ts'
import { reportHandlers } from './growth/reports.ts'
import { ruleHandlers, ruleRunHandlers } from './growth/rules.ts'
import { signalHandlers } from './growth/signals.ts'
import { targetHandlers } from './growth/targets.ts'
import { generationHandlers } from './operator/generations.ts'

/** All operations, in the order of the contract. */
export const createOperations = (world: World): Bound[] => {
  const host = { world, slots: downloadSlots() }
  return [
    ...bind(host, growthResources.overview, overviewHandlers),
    ...bind(host, growthResources.brief, briefHandlers),
    ...bind(host, growthResources.batches, batchHandlers),
    ...bind(host, growthResources.articles, articleHandlers),
    ...bind(host, growthResources.items, itemHandlers),
    ...bind(host, growthResources.connection, connectionHandlers),
    ...bind(host, growthResources.connections, connectionsHandlers),
    ...bind(host, growthResources.profile, profileHandlers),
    ...bind(host, growthResources.channels, channelHandlers),
    ...bind(host, growthResources.audits, growthAuditHandlers),
    ...bind(host, growthResources.hooks, hookHandlers),
    ...bind(host, growthResources.learnings, learningHandlers),
    ...bind(host, growthResources.experiments, experimentHandlers),
    ...bind(host, growthResources.products, productHandlers),
    ...bind(host, growthResources.reports, reportHandlers),
    ...bind(host, growthResources.rules, ruleHandlers),
    ...bind(host, growthResources.ruleRuns, ruleRunHandlers),
    ...bind(host, growthResources.engagements, engagementHandlers(world)),
    ...bind(host, growthResources.targets, targetHandlers),
    ...bind(host, growthResources.signals, signalHandlers),
    ...bind(host, growthResources.automation, automationHandlers),
    ...bind(host, appResources.session, sessionHandlers),
    ...bind(host, appResources.sessions, sessionsHandlers),
    ...bind(host, appResources.person, personHandlers),
    ...bind(host, appResources.workspace, workspaceHandlers({ load: stopLoad, stop: stopAutomation, inFlight })),
    ...bind(host, appResources.members, memberHandlers),
    ...bind(host, appResources.device, deviceHandlers),
    ...bind(host, appResources.invitations, invitationHandlers(world.identity.publicUrl)),
    ...bind(host, appResources.connections, appConnectionsHandlers(world.sandbox)),
    ...bind(host, appResources.plan, planHandlers),
    ...bind(host, appResources.audit, auditHandlers),
    ...bind(host, appResources.webhook, webhookHandlers(world)),
    ...bind(host, appResources.keys, keyHandlers),
  ]
}

/** Internal operations: not served to clients, but accepted from other processes. */
export const createOperatorOperations = (world: World): Bound[] =>
  bind({ world, slots: downloadSlots() }, operatorResources.generations, generationHandlers)
