/** What becomes of each kind of record of an export. A kind without a line does not compile. */
import type { KindRule } from './kind.ts'
import type { ExportKind } from './kind-counts.ts'
import { agentKinds } from './kinds-agent.ts'
import { growthKinds } from './kinds-growth.ts'

const JOIN_ANEW = 'people join anew, by a link'

export const importKinds: Record<ExportKind, KindRule> = {
  workspace: {
    leaves: 'a new workspace is made, with the default plan and nothing of its billing',
  },
  member: { leaves: JOIN_ANEW },
  invitation: { leaves: JOIN_ANEW },
  ...growthKinds,
  ...agentKinds,
  webhook: { leaves: 'its secret is made anew, by whoever sets the webhook' },
  key: { leaves: 'keys are made anew' },
  audit: { leaves: 'it tells what was done there, and by whom; the archive keeps it' },
  event: { leaves: 'it has been told there' },
}

const UNKNOWN = { leaves: 'this version does not know its kind' }

/** Whoever writes an archive chooses the names of its kinds, `constructor` and `__proto__` too. */
export const ruleOf = (kind: string): KindRule =>
  Object.hasOwn(importKinds, kind) ? importKinds[kind as ExportKind] : UNKNOWN
