/** How long a deleted workspace can be restored, in milliseconds. Source: reference/users.md. */
export const GRACE_MS = 14 * 86_400_000
