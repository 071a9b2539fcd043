/** What a member of a workspace is to it. Owners may everything; what the others may is said by each operation. */
export const roles = ['owner', 'editor', 'approver', 'viewer'] as const
export type Role = (typeof roles)[number]
