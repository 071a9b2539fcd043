import type { Route } from '../route.ts'
import { approvalPageRoutes } from './approval.ts'
import { devChannelPageRoutes } from './dev-channel.ts'
import { devicePageRoutes } from './device.ts'
import { documentPassagePageRoutes } from './document-passage.ts'
import { homeRoutes } from './home.ts'
import { joinRoutes } from './join.ts'
import type { PageDeps } from './page.ts'
import { playbookVersionPageRoutes } from './playbook-version.ts'
import { replyPageRoutes } from './reply.ts'
import { resetRoutes } from './reset.ts'
import { signInRoutes } from './sign-in.ts'

/** The pages. They have no scripts, and load nothing from other hosts. */
export const pageRoutes = (deps: PageDeps): Route[] => [
  ...homeRoutes(deps),
  ...signInRoutes(deps),
  ...joinRoutes(deps),
  ...resetRoutes(deps),
  ...devicePageRoutes(deps),
  ...approvalPageRoutes(deps),
  ...playbookVersionPageRoutes(deps),
  ...documentPassagePageRoutes(deps),
  ...replyPageRoutes(deps),
  ...devChannelPageRoutes(deps),
]
