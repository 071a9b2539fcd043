/** Every operation with its handler, in the order of the contract. */
import { appResources, growthResources } from '#contract/index'
import { operatorResources } from '#contract/operator'
import { auditHandlers } from './app/audit.ts'
import { connectionsHandlers as appConnectionsHandlers } from './app/connections.ts'
import { deviceHandlers } from './app/device.ts'
import { invitationHandlers } from './app/invitations.ts'
import { keyHandlers } from './app/keys.ts'
import { memberHandlers } from './app/members.ts'
import { personHandlers } from './app/person.ts'
import { planHandlers } from './app/plan.ts'
import { sessionHandlers, sessionsHandlers } from './app/session.ts'
import { webhookHandlers } from './app/webhook.ts'
import { workspaceHandlers } from './app/workspace.ts'
import { bind, bindDoors, bindDownloads, type Door, type Download, type Operation } from './bind.ts'
import type { World } from './call.ts'
import { downloadSlots } from './download.ts'
import { articleHandlers } from './growth/articles.ts'
import { auditHandlers as growthAuditHandlers } from './growth/audits.ts'
import { automationHandlers } from './growth/automation.ts'
import { batchHandlers } from './growth/batches.ts'
import { briefHandlers } from './growth/brief.ts'
import { channelHandlers } from './growth/channels.ts'
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

/** Those of a workspace: reads, and commands that go through its mailbox. */
export const createOperations = (world: World): Operation[] => [
  ...bind(world, growthResources.overview, overviewHandlers),
  ...bind(world, growthResources.brief, briefHandlers),
  ...bind(world, growthResources.batches, batchHandlers),
  ...bind(world, growthResources.articles, articleHandlers),
  ...bind(world, growthResources.items, itemHandlers),
  ...bind(world, growthResources.connection, connectionHandlers),
  ...bind(world, growthResources.connections, connectionsHandlers),
  ...bind(world, growthResources.profile, profileHandlers),
  ...bind(world, growthResources.channels, channelHandlers),
  ...bind(world, growthResources.audits, growthAuditHandlers),
  ...bind(world, growthResources.hooks, hookHandlers),
  ...bind(world, growthResources.learnings, learningHandlers),
  ...bind(world, growthResources.experiments, experimentHandlers),
  ...bind(world, growthResources.products, productHandlers),
  ...bind(world, growthResources.reports, reportHandlers),
  ...bind(world, growthResources.rules, ruleHandlers),
  ...bind(world, growthResources.ruleRuns, ruleRunHandlers),
  ...bind(world, growthResources.engagements, engagementHandlers(world)),
  ...bind(world, growthResources.targets, targetHandlers),
  ...bind(world, growthResources.signals, signalHandlers),
  ...bind(world, growthResources.automation, automationHandlers),
  ...bind(world, appResources.workspace, workspaceHandlers),
  ...bind(world, appResources.members, memberHandlers),
  ...bind(world, appResources.invitations, invitationHandlers(world.identity.publicUrl)),
  ...bind(world, appResources.keys, keyHandlers),
  ...bind(world, appResources.connections, appConnectionsHandlers(world.sandbox)),
  ...bind(world, appResources.plan, planHandlers),
  ...bind(world, appResources.audit, auditHandlers),
  ...bind(world, appResources.webhook, webhookHandlers(world)),
]

/** Those of no workspace: how people come in, and what they do about themselves. */
export const createDoors = (world: World): Door[] => [
  ...bindDoors(world, appResources.session, sessionHandlers),
  ...bindDoors(world, appResources.sessions, sessionsHandlers),
  ...bindDoors(world, appResources.person, personHandlers),
  ...bindDoors(world, appResources.invitations, invitationHandlers(world.identity.publicUrl)),
  ...bindDoors(world, appResources.device, deviceHandlers),
]

/** What is taken away as files. */
export const createDownloads = (world: World): Download[] => {
  const all = { world, slots: downloadSlots() }
  return [...bindDownloads(all, appResources.workspace, workspaceHandlers), ...bindDownloads(all, appResources.audit, auditHandlers)]
}

/** What the surfaces do beneath the contract: not served to anybody, but taken from other processes. */
export const createOperatorOperations = (world: World): Operation[] => bind(world, operatorResources.generations, generationHandlers)
