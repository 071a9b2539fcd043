/** All resources and operations, in the order of the documentation. */
import { isScope } from '#kernel/scopes'
import { agentResources, capabilityResources } from './agent-resources.ts'
import { appResources } from './app-resources.ts'
import { growthResources } from './growth-resources.ts'
import { type NamedOp, nameOperations, type Resource } from './op.ts'

export const resources: Resource[] = [
  ...Object.values(growthResources),
  ...Object.values(agentResources),
  ...Object.values(appResources),
]

export const operations: NamedOp[] = resources.flatMap((resource) => nameOperations(resource))

export const capabilities: NamedOp[] = Object.values(capabilityResources).flatMap((resource) =>
  nameOperations(resource),
)

/** The operations that API keys can call, given the scope. */
export const keyOperations: NamedOp[] = operations.filter(({ scope }) => isScope(scope))
