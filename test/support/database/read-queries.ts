/**
 * Every reading query of the store, with arguments that find the rows of
 * test/support/database/rows.ts.
 */
import { listApprovals } from '#store/agent/approvals'
import { listArtifacts } from '#store/agent/artifacts'
import { listChannelConnections } from '#store/agent/channel-connections'
import { listReplies } from '#store/agent/channel-replies'
import { listConversations } from '#store/agent/conversations'
import { listDocuments } from '#store/agent/documents'
import { listFeedback } from '#store/agent/feedback'
import { listJobs, listTasks } from '#store/agent/jobs'
import { listMcpServers } from '#store/agent/mcp-servers'
import { listMemories } from '#store/agent/memories'
import { listPlaybooks } from '#store/agent/playbooks'
import { listSchedules } from '#store/agent/schedules'
import { searchMessages } from '#store/agent/search'
import { whereMade } from '#store/agent/visibility'
import { listWebhookRules } from '#store/agent/webhook-rules'
import { auditPage, recentDeeds } from '#store/app/audit'
import { standingAuthorization } from '#store/app/authorizations'
import { exportSources } from '#store/app/export'
import { exportPage, startOf } from '#store/app/export-page'
import type { ExportSource } from '#store/app/export-source'
import { fileBlock, keptFile, notedFile } from '#store/app/files'
import { anOwner, listMembers } from '#store/app/members'
import { endpointOverview } from '#store/app/webhooks'
import { planOfWorkspace, workspaceOf } from '#store/app/workspace'
import { listInvitations } from '#store/app/workspace-invitations'
import { listKeys, livingKeys } from '#store/app/workspace-keys'
import type { Query } from '#store/engine/db'
import { stateOfKey } from '#store/engine/idempotency'
import { eventLog } from '#store/engine/outbox'
import { growthReadQueries } from './growth-read-queries.ts'
import { END, page, paged } from './pages.ts'
import type { Rows } from './rows.ts'

/** Keys that test/support/database/rows.ts does not write. */
const written = Object.values(exportSources).filter(({ table }) => table !== 'api_key')

/** A key of the workspace, and a person who may decide on some calls. */
const as = { personId: null }
const person = { personId: END }
const decider = { ...person, tools: ['growth_post_item'], allBut: true }

/** Sorts before the key of every row. */
const beginOf = ({ key }: ExportSource) =>
  key.map(([, type]) => (type === 'int' ? '0' : '00000000-0000-0000-0000-000000000000'))

/** They give back what they are given, and no row: access alone, or names of these ids. */
export const rowless = ['read-scope.accessAlone', 'names.namedAuthors']

/** By module and name; several if arguments change the statement. */
export const readQueries: Record<string, (rows: Rows) => Query[]> = {
  ...growthReadQueries,
  'approvals.listApprovals': () => [
    listApprovals({ ...page, as: decider }),
    listApprovals({ ...page, after: END, as: { ...decider, ...as } }),
    listApprovals({ ...page, status: 'pending', as: decider }),
    listApprovals({ ...page, status: 'pending', after: END, as: decider }),
  ],
  'artifacts.listArtifacts': () => [
    listArtifacts(page),
    listArtifacts({
      ...page,
      before: new Date(Date.UTC(9999, 0)),
      kind: 'report',
      source: 'capability',
    }),
  ],
  'audit.auditPage': ({ audit }) => [
    auditPage(page),
    auditPage({
      ...page,
      after: END,
      operation: audit.operation,
      since: new Date(0),
      until: new Date(Date.UTC(9999, 0)),
    }),
    auditPage({ ...page, actor: audit.actor_id }),
    auditPage({ ...page, record: audit.ref_id }),
  ],
  'audit.recentDeeds': () => [recentDeeds('00000000-0000-0000-0000-000000000000')],
  'conversations.listConversations': () => [
    listConversations({ ...page, as: { ...as, knowsAll: false } }),
    listConversations({
      ...page,
      after: { at: new Date(Date.UTC(9999, 0)), id: END },
      as: { ...person, knowsAll: false },
    }),
    listConversations({
      ...page,
      status: 'active',
      visibility: 'workspace',
      as: { ...person, knowsAll: true },
    }),
  ],
  'documents.listDocuments': ({ document }) => [
    listDocuments(page),
    listDocuments({ ...page, after: END, status: 'ready' }),
    listDocuments({ ...page, fileName: document.file_name }),
  ],
  'export-page.exportPage': () =>
    written.flatMap((source) => [
      exportPage(source, page),
      exportPage(source, { ...page, after: beginOf(source) }),
    ]),
  'export-page.startOf': () => [startOf],
  'feedback.listFeedback': () => [
    listFeedback({ ...page, as }),
    listFeedback({ ...page, verdict: 'up', since: new Date(0), as: person }),
  ],
  'files.keptFile': ({ file }) => [keptFile(file.id)],
  'files.notedFile': ({ file }) => [notedFile(file.id)],
  'files.fileBlock': ({ file }) => [fileBlock(file.id, 0)],
  'idempotency.stateOfKey': ({ idempotency }) => [stateOfKey(idempotency.key)],
  'jobs.listJobs': ({ agent_conversation }) => [
    listJobs({ ...page, as }),
    listJobs({ ...page, after: END, as: person }),
    listJobs({
      ...page,
      status: 'queued',
      kind: 'task',
      conversation: agent_conversation.id,
      as: person,
    }),
  ],
  'jobs.listTasks': () => [listTasks(page), listTasks({ ...page, status: 'queued', after: END })],
  'members.anOwner': () => [anOwner],
  'members.listMembers': () => paged(listMembers),
  'outbox.eventLog': ({ outbox }) => [
    eventLog(page),
    eventLog({ ...page, after: END, state: 'delivered', type: outbox.type }),
    eventLog({ ...page, type: outbox.type }),
  ],
  'schedules.listSchedules': () => [
    listSchedules(page),
    listSchedules({ ...page, after: { at: new Date(0), id: END } }),
    listSchedules({ ...page, status: 'active' }),
  ],
  'memories.listMemories': () => [
    listMemories({ ...page, personId: null }),
    listMemories({ ...page, personId: null, after: END, scope: 'workspace' }),
  ],
  'playbooks.listPlaybooks': () => [
    listPlaybooks(page),
    listPlaybooks({ ...page, status: 'active' }),
  ],
  'channel-connections.listChannelConnections': () => paged(listChannelConnections),
  'channel-replies.listReplies': ({ channel_reply }) => [
    listReplies({ ...page, as }),
    listReplies({ ...page, after: END, status: 'held', as: person }),
    listReplies({ ...page, connection: channel_reply.connection_id, as }),
  ],
  'mcp-servers.listMcpServers': () => paged(listMcpServers),
  'webhook-rules.listWebhookRules': () => paged(listWebhookRules),
  'search.searchMessages': ({ agent_message }) => [
    searchMessages(
      { conversationId: agent_message.conversation_id, messageId: agent_message.id },
      agent_message.content,
    ),
  ],
  'visibility.whereMade': ({ agent_approval }) => [
    whereMade([{ kind: 'approval', id: agent_approval.id }]),
  ],
  'authorizations.standingAuthorization': ({ account_authorization: { id } }) => [
    standingAuthorization(id),
  ],
  'webhooks.endpointOverview': () => [endpointOverview],
  'workspace-invitations.listInvitations': () => paged(listInvitations),
  'workspace-keys.listKeys': () => paged(listKeys),
  'workspace-keys.livingKeys': () => [livingKeys(10)],
  'workspace.planOfWorkspace': () => [planOfWorkspace],
  'workspace.workspaceOf': () => [workspaceOf],
}

/**
 * An exported query: `export const x: Query = …` or `export const x = (…): Query => …`, up to the
 * next export.
 */
const EXPORTED =
  /^export const (\w+)(?:: Query(?:<.*>)? = \(sql\) =>|\s*=\s*\([^)]*\): Query(?:<.*>)? =>)([\s\S]*?)(?=^\S|(?![\s\S]))/gm

/** The names of the reading queries in the source of a module. */
export const readQueriesIn = (source: string): string[] =>
  [...source.matchAll(EXPORTED)]
    .filter(([, , body]) => /sql(?:<.*>)?`\s*(select|with)\b/.test(body!))
    .map(([, name]) => name!)
