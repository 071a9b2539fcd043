/** Internal operations: surfaces of one process call them in the process that owns the workspace. Not served to clients. */
import type { Resource } from './op.ts'
import { generations } from './operator/generations.ts'

export const operatorResources = {
  generations: { prefix: 'operator.generations', about: 'Records being generated.', group: generations },
} as const satisfies Record<string, Resource>
