/** Every operation with its handler, in the order of the contract. */
import { resources } from '#contract/index'
import { operatorResources } from '#contract/operator'
import { bind, type Operation } from './bind.ts'
import type { World } from './call.ts'
import { automationHandlers } from './growth/automation.ts'
import { batchHandlers } from './growth/batches.ts'
import { connectionHandlers, connectionsHandlers } from './growth/connections.ts'
import { itemHandlers } from './growth/items.ts'
import { overviewHandlers } from './growth/overview.ts'
import { profileHandlers } from './growth/profile.ts'
import { webhookHandlers } from './operator/webhook.ts'

export const createOperations = (world: World): Operation[] => [
  ...bind(world, resources.overview, overviewHandlers),
  ...bind(world, resources.batches, batchHandlers),
  ...bind(world, resources.items, itemHandlers),
  ...bind(world, resources.connection, connectionHandlers),
  ...bind(world, resources.connections, connectionsHandlers),
  ...bind(world, resources.profile, profileHandlers),
  ...bind(world, resources.automation, automationHandlers),
]

/** What operators do: not served to anybody, but taken from other processes of the deployment. */
export const createOperatorOperations = (world: World): Operation[] => bind(world, operatorResources.webhook, webhookHandlers(world.egress))
