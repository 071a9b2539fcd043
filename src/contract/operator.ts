/** What operators do to a workspace by `tendril admin`: run where the workspace is owned, reached by the deployment's own processes. */

import type { Resource } from './op.ts'
import { webhook } from './operator/webhook.ts'

export const operatorResources = {
  webhook: { prefix: 'operator.webhook', about: 'The endpoint that a workspace is told at.', group: webhook },
} as const satisfies Record<string, Resource>
