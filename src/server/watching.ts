/**
 * What the deployment says of itself to those who watch it, by `/ready` and `/metrics`. Each part
 * that knows something adds it here.
 */
import { backupState } from './backup/service.ts'

/** The last backup that succeeded. Before the first, `ageMs` counts from when backups began. */
export interface BackupState {
  ageMs: number
  /** How often there should be one. */
  everyMs: number
  /** Bytes of the write-ahead log that a running one keeps from removal. */
  heldBytes: number
  /** Undefined unless the last one failed. */
  lastError: unknown
}

export interface DeploymentWatch {
  /** Whether the deployment is held. Absent: it cannot be. */
  held?: () => Promise<boolean>
  /** Absent: this server makes no backups by itself. */
  backup?: (() => Promise<BackupState | undefined>) | undefined
}

interface Watched {
  runtime: { hold: { since: Date | null } }
  overrides: { watching?: DeploymentWatch }
}

export const watchingOf = ({ runtime, overrides }: Watched): DeploymentWatch => ({
  held: async () => runtime.hold.since !== null,
  backup: async () => backupState(),
  ...overrides.watching,
})
