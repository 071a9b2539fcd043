import { createHash, randomBytes } from 'node:crypto'
import type { artifactCapabilities, artifacts } from '#contract/agent/artifacts'
import { keepArtifacts, madeIn, type ToKeep } from '#decisions/agent/artifacts'
import {
  type Artifact,
  artifactTaskView,
  artifactView,
  newShare,
  shareLimits,
  shareView,
  USUAL_DAYS,
} from '#domain/agent/knowledge/artifact'
import { AppError, fail, found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { Files } from '#port/files/files'
import {
  activeSharePart,
  activeShares,
  artifactPart,
  deleteArtifact,
  deleteShareRoute,
  deleteShareRoutes,
  insertShare,
  insertShareRoute,
  listArtifacts,
  revokeShare,
  revokeShares,
  shareCounts,
  storedArtifact,
} from '#store/agent/artifacts'
import type { Db } from '#store/engine/db'
import { loadBy } from '#store/engine/load'
import { growthAuditById } from '#store/growth/growth-audits'
import { reportById } from '#store/growth/reports'
import type { CommandContext, HandlerResult, Handlers, QueryContext } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { clampTime } from '../engine/time-input.ts'

const NONE = 'no such artifact'

const DEFAULT_LIMIT = 25

interface Listing {
  limit?: number
  cursor?: string | Date
}

/**
 * A page of artifacts, sorted by time. The cursor is the time of the last artifact of the previous
 * page.
 */
const listPage = async <V>(
  {
    limit = DEFAULT_LIMIT,
    cursor,
    ...filters
  }: Listing & Partial<Parameters<typeof listArtifacts>[0]>,
  { read }: Pick<QueryContext, 'read'>,
  show: (row: Artifact) => V,
) => {
  const rows = await read(listArtifacts({ ...filters, limit, before: clampTime(cursor) }))
  const last = rows.length > limit ? rows[limit - 1]! : undefined
  return { artifacts: rows.slice(0, limit).map(show), nextCursor: last?.created_at ?? null }
}

/** 256 random bits; only their hash is stored. */
const newToken = (): string => randomBytes(32).toString('base64url')
export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** The URL that downloads an artifact by a token. */
const shareUrl = (publicUrl: string, token: string): string =>
  `${publicUrl}/api/v1/artifacts/shared/${token}`

interface ArtifactParts {
  db: Db
  files: Files
  identity: { publicUrl: string }
}

const keepOne = async (what: ToKeep, { sql, gate, tenantId }: CommandContext) => {
  const { artifacts, writes } = await keepArtifacts([what], { sql, gate })
  return { artifact: artifacts[0]!, tenantId, effects: { writes }, refId: what.id }
}

/** The report or audit as a file. Throws `not_found`, and `conflict` unless it is ready. */
const fileOf = async (
  { db }: ArtifactParts,
  tenantId: string,
  { record, recordId }: { record: 'report' | 'audit'; recordId: string },
) => {
  const notReady = (status: string) =>
    fail('conflict', `the ${record} is ${status}; only a ready one can be made into an artifact`, {
      reason: 'wrong_state',
    })
  if (record === 'report') {
    const report = found((await db.read({ tenantId }, reportById(recordId)))[0], 'no such report')
    const content = report.markdown ?? notReady(report.status)
    return {
      content,
      kind: 'report',
      file_name: `report-${report.week}.md`,
      mime_type: 'text/markdown',
    } as const
  }
  const audit = found((await db.read({ tenantId }, growthAuditById(recordId)))[0], 'no such audit')
  const { id, days, source, result, created_at } = audit
  if (result === null) return notReady(audit.status)
  const content = JSON.stringify({ id, days, source, created_at, result }, null, 2)
  const file_name = `audit-${created_at.toISOString().slice(0, 10)}.json`
  return { content, kind: 'data', file_name, mime_type: 'application/json' } as const
}

/** Returns a refusal instead of throwing it. */
const refusable = <T>(finding: Promise<T>): Promise<T | AppError> =>
  finding.catch((cause) => {
    if (cause instanceof AppError) return cause
    throw cause
  })

const NO_SHARE = 'no such active share of this artifact'

const sharing = ({
  identity,
}: Pick<ArtifactParts, 'identity'>): Pick<Handlers<typeof artifacts>, 'share' | 'unshare'> => ({
  share: loading(
    ({ id }) => ({ artifact: artifactPart(id), counts: shareCounts(id) }),
    ({ expiresInDays = USUAL_DAYS }, { gate }, { artifact, counts }) => {
      const { id: artifact_id } = found(artifact, NONE)
      if (counts.active >= shareLimits.open)
        fail('conflict', `the artifact has ${counts.active} active shares; revoke one first`, {
          reason: 'limit_reached',
        })
      if (counts.all >= shareLimits.kept)
        fail('conflict', `the artifact had ${counts.all} shares within a week; try again later`, {
          reason: 'limit_reached',
        })
      const share = newShare({ id: newId(), artifact_id, days: expiresInDays, now: gate.now })
      const token = newToken()
      const hash = hashOfToken(token)
      const effects = { writes: [insertShare(share, hash), insertShareRoute(share, hash)] }
      const reply = { share: shareView(share), token, url: shareUrl(identity.publicUrl, token) }
      return {
        reply,
        effects,
        auditDetail: { share: share.id, expires_at: share.expires_at.toISOString() },
      }
    },
  ),

  unshare: loading(
    ({ id, shareId }) => ({ artifact: artifactPart(id), share: activeSharePart(id, shareId) }),
    (_, { gate }, { artifact, share: before }) => {
      found(artifact, NONE)
      const share = { ...found(before, NO_SHARE), revoked_at: gate.now }
      const effects = { writes: [revokeShare(share, gate.now), deleteShareRoute(share)] }
      return { reply: { share: shareView(share) }, effects, auditDetail: { share: share.id } }
    },
  ),
})

const creating = (parts: ArtifactParts): Handlers<typeof artifacts>['create'] => ({
  async prepare(input, { tenantId }) {
    const made = await refusable(fileOf(parts, tenantId, input))
    // Thrown in the letter, after everything that forbids commands in general.
    if (made instanceof AppError) return () => Promise.reject(made)
    const { content, ...given } = made
    const file = await parts.files.put(tenantId, Buffer.from(content))
    return async (
      _,
      context,
    ): Promise<HandlerResult<{ artifact: ReturnType<typeof artifactView> }>> => {
      const by = {
        ...madeIn(undefined),
        created_by_user_id: context.principal.member?.personId ?? null,
      }
      const metadata = { record: input.record, recordId: input.recordId }
      const { artifact, ...rest } = await keepOne(
        { id: newId(), ...given, ...by, metadata, file },
        context,
      )
      return {
        reply: { artifact: artifactView(artifact, rest.tenantId) },
        effects: rest.effects,
        refId: rest.refId,
        auditDetail: metadata,
      }
    }
  },
})

export const artifactHandlers = (parts: ArtifactParts): Handlers<typeof artifacts> => ({
  list: ({ jobId: job, conversationId: conversation, ...input }, context) =>
    listPage({ ...input, job, conversation }, context, (artifact) =>
      artifactView(artifact, context.tenantId),
    ),

  create: creating(parts),

  async get({ id }, { read, tenantId }) {
    const { artifact, shares } = await loadBy(read, {
      artifact: artifactPart(id),
      shares: activeShares(id, shareLimits.open),
    })
    return {
      artifact: artifactView(found(artifact, NONE), tenantId),
      shares: shares.map(shareView),
    }
  },

  remove: loading(
    ({ id }) => ({ before: artifactPart(id) }),
    ({ id }, { gate: { now }, tenantId }, { before }) => {
      const artifact = found(before, NONE)
      const writes = [deleteArtifact(artifact, now), revokeShares(id, now), deleteShareRoutes(id)]
      return {
        reply: { artifact: artifactView({ ...artifact, deleted_at: now }, tenantId) },
        effects: { writes },
      }
    },
  ),

  async download({ id }, { read, tenantId }) {
    const { file, file_name, mime_type } = found(await storedArtifact(read, id), NONE)
    return {
      name: file_name,
      mimeType: mime_type,
      byteSize: file.byte_size,
      sha256: file.sha256,
      read: (range, signal) => parts.files.read(file, { tenantId, read, range, signal }),
    }
  },

  ...sharing(parts),
})

/** Throws `invalid_input` for malformed JSON. */
const requireFit = (mimeType: string, content: string): void => {
  if (mimeType !== 'application/json') return
  try {
    JSON.parse(content)
  } catch (cause) {
    const message = `is not JSON: ${(cause as Error).message}`
    fail('invalid_input', `content ${message}`, { details: [{ path: 'content', message }] })
  }
}

export const artifactCapabilityHandlers = ({
  files,
}: Pick<ArtifactParts, 'files'>): Handlers<typeof artifactCapabilities> => ({
  create_artifact: {
    async prepare({ fileName, kind, mimeType, content }, { tenantId }) {
      requireFit(mimeType, content)
      const file = await files.put(tenantId, Buffer.from(content))
      return async (
        _,
        context,
      ): Promise<HandlerResult<{ artifact: ReturnType<typeof artifactTaskView> }>> => {
        const given = {
          id: newId(),
          kind,
          file_name: fileName,
          mime_type: mimeType,
          metadata: {},
          ...madeIn(context.job),
        }
        const { artifact, effects, refId } = await keepOne({ ...given, file }, context)
        return {
          reply: { artifact: artifactTaskView(artifact) },
          effects,
          refId,
          auditDetail: { bytes: artifact.byte_size },
        }
      }
    },
  },

  list_artifacts: (input, context) => listPage(input, context, artifactTaskView),
})
