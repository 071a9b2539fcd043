/**
 * The environment for a server that a test starts and kills. The test runner asks Bun to end the children of a process that
 * dies; a server is to be killed as it would be anywhere else, where nobody does that for it.
 */
export const ownEnv = (more: Record<string, string> = {}): Record<string, string | undefined> => ({
  ...process.env,
  BUN_FEATURE_FLAG_NO_ORPHANS: undefined,
  ...more,
})
