/** What becomes of each kind of record of an export. A kind without a line does not compile. */
import type { KindRule } from './kind.ts'
import { agentKinds } from './kinds-agent.ts'
import { growthKinds } from './kinds-growth.ts'
import type { ExportKind } from './read.ts'

const GONE = 'people join anew, by a link'

export const importKinds: Record<ExportKind, KindRule> = {
  workspace: {
    leaves: 'a new workspace is made, with the default plan and nothing of its billing',
  },
  member: { leaves: GONE },
  invitation: { leaves: GONE },
  ...growthKinds,
  ...agentKinds,
  webhook: { leaves: 'its secret is made anew, by whoever sets the webhook' },
  key: { leaves: 'keys are made anew' },
  audit: { leaves: 'it tells what was done there, and by whom; the archive keeps it' },
  event: { leaves: 'it has been told there' },
}

export const ruleOf = (kind: string): KindRule =>
  importKinds[kind as ExportKind] ?? { leaves: 'this version does not know its kind' }
