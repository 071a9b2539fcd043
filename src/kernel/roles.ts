/** What a member of a workspace is to it. Owners may everything; what the others may is said by each operation. */
export const roles = ['owner', 'editor', 'approver', 'viewer'] as const
export type Role = (typeof roles)[number]

export const isRole = (text: string): text is Role => (roles as readonly string[]).includes(text)
