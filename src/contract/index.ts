/** The table of contents, in the order of the documentation. */
import { automation } from './growth/automation.ts'
import { batches } from './growth/batches.ts'
import { connection, connections } from './growth/connections.ts'
import { items } from './growth/items.ts'
import { overview } from './growth/overview.ts'
import { profile } from './growth/profile.ts'
import { type NamedOp, named, type Resource } from './op.ts'

export const resources = {
  overview: { prefix: 'growth.overview', about: 'Everything at a glance.', group: overview },
  batches: { prefix: 'growth.batches', about: 'Batches of drafted posts, made from the growth profile.', group: batches },
  items: {
    prefix: 'growth.items',
    about: 'Posts and articles on their way from draft to the network. Nothing goes out without approval.',
    group: items,
  },
  connection: { prefix: 'growth.connection', about: 'The default account on the network.', group: connection },
  connections: { prefix: 'growth.connections', about: 'All connected accounts.', group: connections },
  profile: { prefix: 'growth.profile', about: 'What the workspace is, for whom it writes, and how.', group: profile },
  automation: { prefix: 'growth.automation', about: 'The kill switch over everything that acts unattended.', group: automation },
} as const satisfies Record<string, Resource>

export const operations: NamedOp[] = Object.values(resources).flatMap((resource) => named(resource))
