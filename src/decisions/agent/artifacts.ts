/** How a stored file becomes an artifact, in a letter. */
import type { CallingJob } from '#domain/agent/job/job'
import { type Artifact, type NewArtifact, newArtifact } from '#domain/agent/knowledge/artifact'
import type { NewFile } from '#port/files/files'
import { insertArtifact, newestArtifact } from '#store/agent/artifacts'
import type { Query, Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'

/** A stored file, and what is known about it. */
export interface ToKeep extends Omit<NewArtifact, 'file' | 'newest' | 'now'> {
  file: NewFile
}

/**
 * What an artifact inherits from the job that makes it: where it belongs, whom it is for, and
 * whether its text can be trusted.
 */
export const madeIn = (job: CallingJob | undefined) => ({
  job_id: job?.id ?? null,
  conversation_id: job?.conversationId ?? null,
  created_by_user_id: job?.onBehalf.personId ?? null,
  untrusted: (job?.taint.length ?? 0) > 0,
})

/**
 * Keeps the artifacts in the order of their times. Throws `conflict` if the workspace has no room.
 */
export const keepArtifacts = async (
  all: readonly ToKeep[],
  { sql, gate }: { sql: Sql; gate: Gate },
) => {
  let { at: newest } = (await loadNow(sql, { newest: newestArtifact })).newest
  const artifacts: Artifact[] = []
  const writes: Query[] = []
  for (const { file, ...given } of all) {
    const artifact = newArtifact({ ...given, file, newest, now: gate.now })
    newest = artifact.created_at
    artifacts.push(artifact)
    writes.push(...(await file.keep(sql, gate)), insertArtifact(artifact))
  }
  return { artifacts, writes }
}
