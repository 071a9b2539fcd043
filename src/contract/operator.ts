/** Internal operations: surfaces of one process call them in the process that owns the workspace. Not served to clients. */
import type { Resource } from './op.ts'
import { generations } from './operator/generations.ts'
import { inbound } from './operator/inbound.ts'

export const operatorResources = {
  generations: { prefix: 'operator.generations', about: 'Records being generated.', group: generations },
  inbound: { prefix: 'operator.inbound', about: 'What comes in from outside.', group: inbound },
} as const satisfies Record<string, Resource>
