/** Roles, scopes and email states in words for people. */
import type { EmailStatus } from '#contract/app/session'
import type { Role } from '#kernel/roles'

const ROLES: Record<Role, string> = {
  owner: 'Owner: can do everything',
  editor: 'Editor: writes and plans posts',
  approver: 'Approver: decides what goes out',
  viewer: 'Viewer: can read but change nothing',
}

export const roleText = (role: Role): string => ROLES[role]

const EMAILS: Record<EmailStatus, string> = {
  verified: 'Verified',
  unverified: 'Not verified. The operator of this deployment can print a link that verifies it.',
  lost: 'Lost: another account has verified it. You cannot sign in until you set a new one.',
}

export const emailText = (status: EmailStatus): string => EMAILS[status]

const SCOPES: Record<string, string> = {
  'api:read': 'Read the workspace',
  'api:write': 'Change the workspace as your role allows: draft, approve and publish posts',
  'mcp:use': 'Connect through an agent (MCP)',
  session:
    'Act as you for one hour, with all your permissions, including members, keys and your account',
}

export const scopeText = (scope: string): string => SCOPES[scope] ?? scope
