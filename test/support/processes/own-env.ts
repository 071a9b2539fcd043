/**
 * The environment for a server that a test starts and kills. The test runner makes Bun end the
 * children of a process that dies. A server under test must die as it does elsewhere, where its
 * children live on.
 */
export const ownEnv = (more: Record<string, string> = {}): Record<string, string | undefined> => ({
  ...process.env,
  BUN_FEATURE_FLAG_NO_ORPHANS: undefined,
  ...more,
})
