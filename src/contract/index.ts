/** The table of contents, in the order of the documentation. */
import { automation } from './growth/automation.ts'
import { batches } from './growth/batches.ts'
import { connection, connections } from './growth/connections.ts'
import { items } from './growth/items.ts'
import { overview } from './growth/overview.ts'
import { profile } from './growth/profile.ts'
import { type NamedOp, named, type Resource } from './op.ts'

export const resources = {
  overview: { prefix: 'growth.overview', group: overview },
  batches: { prefix: 'growth.batches', group: batches },
  items: { prefix: 'growth.items', group: items },
  connection: { prefix: 'growth.connection', group: connection },
  connections: { prefix: 'growth.connections', group: connections },
  profile: { prefix: 'growth.profile', group: profile },
  automation: { prefix: 'growth.automation', group: automation },
} as const satisfies Record<string, Resource>

export const operations: NamedOp[] = Object.values(resources).flatMap((resource) => named(resource))
