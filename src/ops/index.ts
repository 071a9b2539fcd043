/** Every operation with its handler, in the order of the contract. */
import { appResources, growthResources } from '#contract/index'
import { operatorResources } from '#contract/operator'
import { deviceHandlers } from './app/device.ts'
import { invitationHandlers } from './app/invitations.ts'
import { sessionHandlers, sessionsHandlers } from './app/session.ts'
import { bind, bindDoors, type Door, type Operation } from './bind.ts'
import type { World } from './call.ts'
import { automationHandlers } from './growth/automation.ts'
import { batchHandlers } from './growth/batches.ts'
import { connectionHandlers, connectionsHandlers } from './growth/connections.ts'
import { itemHandlers } from './growth/items.ts'
import { overviewHandlers } from './growth/overview.ts'
import { profileHandlers } from './growth/profile.ts'
import { webhookHandlers } from './operator/webhook.ts'

/** Those of a workspace: reads, and commands that go through its mailbox. */
export const createOperations = (world: World): Operation[] => [
  ...bind(world, growthResources.overview, overviewHandlers),
  ...bind(world, growthResources.batches, batchHandlers),
  ...bind(world, growthResources.items, itemHandlers),
  ...bind(world, growthResources.connection, connectionHandlers),
  ...bind(world, growthResources.connections, connectionsHandlers),
  ...bind(world, growthResources.profile, profileHandlers),
  ...bind(world, growthResources.automation, automationHandlers),
]

/** Those of no workspace: how people come in, and what they do about themselves. */
export const createDoors = (world: World): Door[] => [
  ...bindDoors(world, appResources.session, sessionHandlers),
  ...bindDoors(world, appResources.sessions, sessionsHandlers),
  ...bindDoors(world, appResources.device, deviceHandlers),
  ...bindDoors(world, appResources.invitations, invitationHandlers),
]

/** What operators do: not served to anybody, but taken from other processes of the deployment. */
export const createOperatorOperations = (world: World): Operation[] => bind(world, operatorResources.webhook, webhookHandlers(world.egress))
