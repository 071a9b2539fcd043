/** All groups of operators' commands, in the order of their help. */
import { attentionGroup } from './attention.ts'
import { backupGroup } from './backup.ts'
import type { AdminGroup } from './command.ts'
import { filesGroup } from './files.ts'
import { identityGroup } from './identity.ts'
import { keyGroup } from './key.ts'
import { memberGroup } from './member.ts'
import { nodesGroup } from './nodes.ts'
import { pauseGroup, resumeGroup } from './pause-everywhere.ts'
import { personGroup } from './person.ts'
import { planGroup } from './plan.ts'
import { restoreGroup } from './restore.ts'
import { secretGroup } from './secret.ts'
import { tenantGroup } from './tenant.ts'
import { versionGroup } from './version.ts'
import { webhookGroup } from './webhook.ts'
import { workGroup } from './work.ts'

export const adminGroups: readonly AdminGroup[] = [
  tenantGroup,
  memberGroup,
  personGroup,
  keyGroup,
  planGroup,
  webhookGroup,
  attentionGroup,
  workGroup,
  backupGroup,
  restoreGroup,
  filesGroup,
  nodesGroup,
  pauseGroup,
  resumeGroup,
  identityGroup,
  secretGroup,
  versionGroup,
]
