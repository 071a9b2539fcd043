/**
 * What runs where a workspace is owned and is reached by the deployment's own processes alone: what operators do to it by
 * `tendril admin`, and what the surfaces do beneath the operations of the contract.
 */

import type { Resource } from './op.ts'
import { generations } from './operator/generations.ts'
import { webhook } from './operator/webhook.ts'

export const operatorResources = {
  webhook: { prefix: 'operator.webhook', about: 'The endpoint that a workspace is told at.', group: webhook },
  generations: { prefix: 'operator.generations', about: 'Records that are being generated.', group: generations },
} as const satisfies Record<string, Resource>
