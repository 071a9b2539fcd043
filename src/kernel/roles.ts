/**
 * The roles of members. Owners can do everything; each operation names the other roles that can
 * call it.
 */
export const roles = ['owner', 'editor', 'approver', 'viewer'] as const
export type Role = (typeof roles)[number]
