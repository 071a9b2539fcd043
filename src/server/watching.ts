/**
 * What the deployment says of itself to those who watch it, by `/ready` and `/metrics`. Each part
 * that knows something adds it here.
 */

export interface DeploymentWatch {
  /** Whether the deployment is held. Absent: it cannot be. */
  held?: () => Promise<boolean>
}

export const watchingOf = ({
  overrides,
}: {
  overrides: { watching?: DeploymentWatch }
}): DeploymentWatch => ({
  ...overrides.watching,
})
