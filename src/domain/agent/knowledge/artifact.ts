/**
 * A file that the agent has made: present → deleted, with all its shares. Anybody who has the token
 * of a share can download the file: active → revoked, or expired.
 */
import { artifactRecord, shareRecord } from '#contract/records/agent/artifact'
import type { RowOf } from '#contract/records/record'
import { viewOf } from '#contract/records/view'
import { fileNameOf } from '#kernel/file-name'

export type Artifact = RowOf<typeof artifactRecord>
export type Share = RowOf<typeof shareRecord>

export const shareLimits = {
  /**
   * How many active shares an artifact can have, and how many are kept in all: ended shares are
   * kept for a week.
   */
  open: 50,
  kept: 500,
} as const
export const USUAL_DAYS = 7

const DAY_MS = 86_400_000

/** The file's bytes as they are stored. */
interface Stored {
  id: string
  byteSize: number
  sha256: string
}

export type NewArtifact = Pick<
  Artifact,
  | 'id'
  | 'job_id'
  | 'conversation_id'
  | 'created_by_user_id'
  | 'kind'
  | 'file_name'
  | 'mime_type'
  | 'metadata'
  | 'untrusted'
> & {
  file: Stored
  /** When the workspace's newest artifact was made. */
  newest: Date | null
  now: Date
}

/**
 * An artifact's time determines its place in lists, so it is at least a millisecond later than that
 * of all others.
 */
export const newArtifact = ({ file, newest, now, file_name, ...given }: NewArtifact): Artifact => ({
  ...given,
  source: 'capability',
  file_name: fileNameOf(file_name),
  byte_size: file.byteSize,
  sha256: file.sha256,
  file_id: file.id,
  created_at: new Date(Math.max(now.getTime(), newest === null ? 0 : newest.getTime() + 1)),
  deleted_at: null,
})

interface NewShare {
  id: string
  artifact_id: string
  days: number
  now: Date
}

export const newShare = ({ days, now, ...given }: NewShare): Share => ({
  ...given,
  expires_at: new Date(now.getTime() + days * DAY_MS),
  revoked_at: null,
  created_at: now,
})

const view = viewOf(artifactRecord)

/** `tenantId`: the workspace. */
export const artifactView = (artifact: Artifact, tenantId: string) => ({
  ...view(artifact),
  tenantId,
  // Metadata from the caller cannot replace this field.
  metadata: { ...artifact.metadata, untrusted: artifact.untrusted },
})

/** As the agent sees it. */
export const artifactTaskView = ({
  id,
  kind,
  file_name,
  mime_type,
  byte_size,
  untrusted,
  job_id,
  created_at,
}: Artifact) => ({
  id,
  kind,
  fileName: untrusted ? null : file_name,
  untrustedFileName: untrusted ? file_name : null,
  mimeType: mime_type,
  byteSize: byte_size,
  jobId: job_id,
  createdAt: created_at,
})

export const shareView = viewOf(shareRecord)
