/** What roles and scopes are called before people. */
import type { EmailStatus } from '#contract/app/session'
import type { Role } from '#kernel/roles'

const ROLES: Record<Role, string> = {
  owner: 'Owner: may do everything',
  editor: 'Editor: writes and plans posts',
  approver: 'Approver: decides what goes out',
  viewer: 'Viewer: may look, and change nothing',
}

export const roleText = (role: Role): string => ROLES[role]

const EMAILS: Record<EmailStatus, string> = {
  verified: 'Verified',
  unverified: 'Not verified: nothing has shown yet that it is yours. The operator of this deployment can.',
  lost: 'Lost: somebody else has shown that it is theirs. You cannot sign in until you set another.',
}

export const emailText = (status: EmailStatus): string => EMAILS[status]

const SCOPES: Record<string, string> = {
  'api:read': 'Read what is in the workspace',
  'api:write': 'Change it, as far as your role may: draft, approve and publish posts',
  'mcp:use': 'Do this through an agent (MCP)',
  session: 'Act as you for one hour, in everything that you may do: members, keys and your account too',
}

export const scopeText = (scope: string): string => SCOPES[scope] ?? scope
