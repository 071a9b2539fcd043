/** Artifacts and their shares in tests. */
import { keepArtifacts, type ToKeep } from '#decisions/agent/artifacts'
import type { Artifact } from '#domain/agent/knowledge/artifact'
import { newReport } from '#domain/growth/learning/report'
import { newId } from '#kernel/ids'
import { insertReport } from '#store/growth/reports'
import { type Workspace, write } from '../arrange.ts'

type Place = Pick<Workspace, 'app' | 'tenantId'>

/** Makes an artifact of the workspace directly in the database. */
export const makeArtifact = async (
  { app, tenantId }: Place,
  {
    bytes = '# Late deliveries\n',
    ...changes
  }: Partial<ToKeep> & { bytes?: string | Uint8Array } = {},
): Promise<Artifact> => {
  const { files, ask } = app.workplace.world
  const file = await files.put(tenantId, Buffer.from(bytes))
  const given = {
    job_id: null,
    conversation_id: null,
    created_by_user_id: null,
    metadata: {},
    untrusted: false,
  }
  const named = {
    kind: 'report',
    file_name: 'late-deliveries.md',
    mime_type: 'text/markdown',
  } as const
  return ask<Artifact>(tenantId, {
    name: 'arrange',
    priority: 'interactive',
    provenance: { principal: { kind: 'system', id: 'test' }, surface: 'admin' },
    async decide(sql, gate) {
      const { artifacts, writes } = await keepArtifacts(
        [{ id: newId(), ...given, ...named, ...changes, file }],
        { sql, gate },
      )
      return { reply: artifacts[0]!, effects: { writes } }
    },
  })
}

export interface MadeShare {
  id: string
  artifactId: string
  token: string
  url: string
}

/** Shares an artifact, over REST. */
export const makeShare = async (
  { app, key }: Pick<Workspace, 'app' | 'key'>,
  id: string,
  body: object = {},
): Promise<MadeShare> => {
  const reply = await app.send('POST', `/api/v1/artifacts/${id}/shares`, { key, body })
  const { share, token, url } = reply.body
  return { id: share.id, artifactId: share.artifactId, token, url }
}

/** Lets the shares expire, as time would: their tokens find nothing. */
export const expire = async (
  { owner }: Pick<Workspace['app'], 'owner'>,
  ...ids: string[]
): Promise<void> => {
  await owner`update artifact_share set expires_at = now() where id = any(${ids})`
  await owner`update inbound_route set expires_at = now() where ref_id = any(${ids})`
}

/** A report that is ready. */
export const makeReport = async (
  place: Place,
  changes: { status?: 'ready' | 'queued'; markdown?: string | null } = {},
) => {
  const report = newReport(newId(), {
    origin: 'manual',
    week: '2026-11-16',
    time_zone: 'UTC',
    now: new Date(),
  })
  await write(place, {
    writes: [
      insertReport({ ...report, status: 'ready', markdown: '# Week of 16 November\n', ...changes }),
    ],
  })
  return { id: report.id }
}
