/**
 * What runs where a workspace is owned and is reached by the deployment's own processes alone: what the surfaces do beneath the
 * operations of the contract.
 */

import type { Resource } from './op.ts'
import { generations } from './operator/generations.ts'

export const operatorResources = {
  generations: { prefix: 'operator.generations', about: 'Records that are being generated.', group: generations },
} as const satisfies Record<string, Resource>
