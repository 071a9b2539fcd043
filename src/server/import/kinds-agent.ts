/** How records of the workspace agent arrive. */
import { Type as T } from '@sinclair/typebox'
import { artifactRecord } from '#contract/records/agent/artifact'
import { documentRecord } from '#contract/records/agent/document'
import { memoryRecord } from '#contract/records/agent/memory'
import { playbookRecord, versionRecord } from '#contract/records/agent/playbook'
import { scheduleRecord } from '#contract/records/agent/schedule'
import { newWork } from '#decisions/work'
import { documentLimits, hashContent } from '#domain/agent/knowledge/document'
import { type Memory, memoryHash, memoryLimits } from '#domain/agent/knowledge/memory'
import { type PlaybookVersion, playbookLimits } from '#domain/agent/knowledge/playbook'
import { scheduleLimits } from '#domain/agent/trigger/schedule'
import { patternFault } from '#kernel/cron'
import { fileNameOf } from '#kernel/file-name'
import { insertMemory } from '#store/agent/memories'
import { insertVersion } from '#store/agent/playbooks'
import { addWork } from '#store/engine/apply-effects'
import { searchConfiguration } from '#store/engine/text-search'
import { importedAs, importer, NOBODY } from './kind.ts'
import type { ExportedRow } from './row.ts'

const MOST_MEMORY = 1_000
const MOST_PLAYBOOK = 50_000

const memory = importedAs(memoryRecord, {
  longest: MOST_MEMORY,
  uniqueBy: ({ text }) => [memoryHash(text)],
  refuses: ({ scope }) =>
    scope === 'workspace' ? undefined : 'it is that of a person, who is nobody here',
  bounds: () => [{ of: 'memories', most: memoryLimits.all }],
  arrives: (row, { ids, sealed }) => ({
    ...row,
    id: ids.of(row.id),
    person_id: null,
    job_id: null,
    text_hash: memoryHash(row.text),
    untrusted: row.untrusted || !sealed,
  }),
  writes: (row, { language }) => [insertMemory(row as unknown as Memory, language)],
})

/** Without our seal, the agent does not see it until a person has activated it. */
const playbook = importedAs(playbookRecord, {
  uniqueBy: ({ slug }) => [slug],
  bounds: ({ status, pinned }) => [
    { of: 'playbooks', most: playbookLimits.all },
    ...(status === 'active' ? [{ of: 'active playbooks', most: playbookLimits.active }] : []),
    ...(status === 'active' && pinned
      ? [{ of: 'pinned playbooks', most: playbookLimits.pinned }]
      : []),
  ],
  arrives: (row, { ids, sealed }) => ({
    ...row,
    id: ids.of(row.id),
    status: sealed ? row.status : 'archived',
  }),
})

const playbookVersion = importedAs(versionRecord, {
  longest: MOST_PLAYBOOK,
  uniqueBy: ({ playbook_id, number, state }) => [
    `${playbook_id} ${number}`,
    ...(state === 'active' ? [`${playbook_id} active`] : []),
  ],
  belongs: ({ playbook_id }, ids) => ids.has('playbook', playbook_id),
  refuses: ({ decided_by, decided_at, number }) =>
    (decided_by === null) === (decided_at === null) && number > 0
      ? undefined
      : 'decided_by and decided_at contradict each other, or number is not above 0',
  bounds: ({ playbook_id }) => [
    { of: `versions of the playbook ${playbook_id}`, most: playbookLimits.versions },
  ],
  // Without our seal, nobody says that anybody here, or anywhere, has decided for it.
  arrives: (row, { ids, sealed }) => ({
    ...row,
    id: ids.of(row.id),
    playbook_id: ids.of(row.playbook_id),
    author: importer,
    untrusted: row.untrusted || !sealed,
    decided_by: sealed ? row.decided_by && importer : null,
    decided_at: sealed ? row.decided_at : null,
  }),
  writes: (row) => [insertVersion(row as unknown as PlaybookVersion)],
})

type ExportedDocument = ExportedRow<typeof documentRecord> & { content: string }

/** It is read anew. Without our seal, nobody vouches for it, and strangers are not shown it. */
const document = importedAs(documentRecord, {
  longest: documentLimits.bytes,
  uniqueBy: ({ content }: ExportedDocument) => [hashContent(content)],
  refuses: ({ content, sha256, status, error, metadata }: ExportedDocument) => {
    if (hashContent(content) !== sha256) return 'its sha256 is not that of its content'
    if (Buffer.byteLength(content) > documentLimits.bytes) return 'its content is too long'
    if (Buffer.byteLength(JSON.stringify(metadata)) > documentLimits.metadataBytes)
      return 'its metadata is too long'
    return (status === 'failed') === (error !== null)
      ? undefined
      : 'its status and error contradict each other'
  },
  bounds: ({ content }) => [
    { of: 'documents', most: Number.POSITIVE_INFINITY },
    { of: 'bytes of documents', most: Number.POSITIVE_INFINITY, takes: Buffer.byteLength(content) },
  ],
  arrives: (row: ExportedDocument, { ids, sealed, language }) => {
    const { trusted: _, public: __, ...metadata } = row.metadata
    return {
      ...row,
      id: ids.of(row.id),
      byte_size: Buffer.byteLength(row.content),
      length: row.content.length,
      metadata: sealed ? row.metadata : metadata,
      trusted: sealed && row.trusted,
      status: row.status === 'failed' ? 'failed' : 'queued',
      passages: 0,
      configuration: searchConfiguration(language),
      author: { kind: 'key', id: NOBODY, personId: null },
    }
  },
  follows: (rows) => [
    rows
      .filter(({ status }) => status === 'queued')
      .map(({ id }) => {
        const work = newWork('ingest', { refId: id, origin: 'manual', runAt: new Date() })
        return (sql) => addWork(sql, work)
      }),
  ],
})

const MIME_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,60}(; ?charset=[\w-]{1,20})?$/
const MOST_METADATA = 4_096

/** Its bytes have been stored before it. */
const artifact = importedAs(artifactRecord, {
  late: true,
  uniqueBy: ({ created_at }) => [String(Date.parse(created_at))],
  refuses: ({ deleted_at, mime_type, file_name, byte_size, metadata }) => {
    if (deleted_at !== null) return 'it is deleted, and has no bytes'
    if (!MIME_TYPE.test(mime_type)) return 'its mime_type is not a media type'
    if (file_name.length > 255) return 'its file_name is too long'
    if (byte_size < 0) return 'its byte_size is below 0'
    return JSON.stringify(metadata).length > MOST_METADATA ? 'its metadata is too long' : undefined
  },
  arrives: (row, { ids, sealed }) => ({
    ...row,
    id: ids.of(row.id),
    job_id: null,
    conversation_id: null,
    created_by_user_id: null,
    file_name: fileNameOf(row.file_name),
    untrusted: row.untrusted || !sealed,
  }),
})

/** Nobody has given it a mandate here: whoever activates it does. */
const schedule = importedAs(scheduleRecord, {
  shapes: { time_zone: T.String({ format: 'time-zone' }) },
  refuses: ({ at, pattern, time_zone }, { now }) => {
    if ((at === null) === (pattern === null)) return 'it has neither at nor cron, or both'
    return pattern === null ? undefined : patternFault(pattern, time_zone, now)
  },
  bounds: () => [{ of: 'schedules', most: scheduleLimits.active + scheduleLimits.past }],
  arrives: (row, { ids, sealed }) => {
    const isOver = row.status === 'cancelled' || row.status === 'done'
    return {
      ...row,
      id: ids.of(row.id),
      status: isOver ? row.status : 'paused',
      paused_by: isOver ? null : 'caller_gone',
      next_at: null,
      conversation_id: null,
      last_job_id: null,
      failures: 0,
      taint: sealed ? row.taint : [...row.taint.slice(0, 20), 'an imported archive'],
      on_behalf: { kind: 'key', id: NOBODY, personId: null },
      goal_by: null,
    }
  },
})

const OF_JOB = 'jobs of the agent are not taken over: nobody here has asked for them'
const TALK = 'conversations name people, who are nobody here; the archive keeps them'
const CONNECT = 'it is connected anew, with credentials of its own'

export const agentKinds = {
  conversation: { leaves: TALK },
  message: { leaves: TALK },
  message_feedback: { leaves: TALK },
  agent_job: { leaves: OF_JOB },
  agent_step: { leaves: OF_JOB },
  agent_event: { leaves: OF_JOB },
  agent_approval: { leaves: `${OF_JOB}, and no call is decided` },
  tool_rule: { leaves: 'what the agent may do is decided anew' },
  agent_module: { leaves: 'what the agent may do is decided anew' },
  schedule,
  memory,
  playbook,
  playbook_version: playbookVersion,
  document,
  document_passage: { leaves: 'it follows from its document, which is read anew' },
  webhook_rule: { leaves: 'its secret and its mandate are made anew' },
  mcp_server: { leaves: CONNECT },
  mcp_tool: { leaves: CONNECT },
  inbound_event: { leaves: 'it only tells which posts have been taken in there' },
  channel_connection: { leaves: CONNECT },
  channel_identity: { leaves: 'it names a person, who is nobody here' },
  channel_message: { leaves: CONNECT },
  channel_reply: { leaves: 'it answers on a channel, which is connected anew' },
  artifact,
  artifact_share: { leaves: 'its link is a secret; artifacts are shared anew' },
}
