/**
 * A file that the agent has made: present → deleted, with all its shares. A share lets whoever has
 * its token download the file: active → revoked, or expired.
 */
import { artifactRecord, shareRecord } from '#contract/records/agent/artifact'
import type { RowOf } from '#contract/records/record'
import { viewOf } from '#contract/records/view'
import { fileNameOf } from '#kernel/file-name'

export type Artifact = RowOf<typeof artifactRecord>
export type Share = RowOf<typeof shareRecord>

/**
 * Shares of an artifact: those that are active, and all that are kept. Ended ones are kept for a
 * week.
 */
export const MOST_SHARES = 50
export const MOST_KEPT_SHARES = 500
export const USUAL_DAYS = 7

const DAY_MS = 86_400_000

/** Its bytes, as they are stored. */
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
  /** When the newest of the workspace was made. */
  newest: Date | null
  now: Date
}

/**
 * The time of an artifact is its place in lists, so it is later than that of all others, by a
 * millisecond at least.
 */
export const newArtifact = ({ file, newest, now, file_name, ...given }: NewArtifact): Artifact => ({
  ...given,
  ...{
    source: 'capability',
    file_name: fileNameOf(file_name),
    byte_size: file.byteSize,
    sha256: file.sha256,
    file_id: file.id,
  },
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
  ...{ expires_at: new Date(now.getTime() + days * DAY_MS), revoked_at: null, created_at: now },
})

const view = viewOf(artifactRecord)

/** `tenantId`: the workspace. */
export const artifactView = (artifact: Artifact, tenantId: string) => ({
  ...view(artifact),
  tenantId,
  // What was given does not stand in its place.
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
  ...{
    id,
    kind,
    fileName: untrusted ? null : file_name,
    untrustedFileName: untrusted ? file_name : null,
  },
  ...{ mimeType: mime_type, byteSize: byte_size, jobId: job_id, createdAt: created_at },
})

export const shareView = viewOf(shareRecord)
