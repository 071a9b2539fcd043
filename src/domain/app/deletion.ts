/** How long a deleted workspace may be taken back, in milliseconds; source: reference/users.md. */
export const GRACE_MS = 14 * 86_400_000
