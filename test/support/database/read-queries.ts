/** Every reading query of the store, with arguments that find the rows of test/support/database/rows.ts. */

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
import { listWebhookRules } from '#store/agent/webhook-rules'
import { auditPage } from '#store/app/audit'
import { exportPage, exportSources, startOf } from '#store/app/export'
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
import { articleById, listArticles } from '#store/growth/articles'
import { takenPosts, unnamedAnswers, unnamedAttempts } from '#store/growth/attempts'
import { batchById, listBatches } from '#store/growth/batches'
import { briefRecord } from '#store/growth/brief'
import { calendarOf } from '#store/growth/calendar'
import { choicesBut, connectionById, connectionOverview, defaultConnection, listConnections } from '#store/growth/connections'
import { engagementById, listEngagements } from '#store/growth/engagements'
import { experimentById, listExperiments } from '#store/growth/experiments'
import { growthAuditById, listGrowthAudits } from '#store/growth/growth-audits'
import { growthChannels } from '#store/growth/growth-channels'
import { hookResults, hookUsage } from '#store/growth/hooks'
import { findItems, type ItemOrder } from '#store/growth/item-lists'
import { allShelves, type SoughtWords } from '#store/growth/item-search'
import { itemById, itemsOfBatch, listItems, recentItems } from '#store/growth/items'
import { activeLearnings, learningById, listLearnings } from '#store/growth/learnings'
import { allProducts, listProducts, productById } from '#store/growth/products'
import { readProfile } from '#store/growth/profiles'
import { listReports, reportById } from '#store/growth/reports'
import { listRuleRuns } from '#store/growth/rule-runs'
import { listRules, ruleById } from '#store/growth/rules'
import { listSignals, signalById } from '#store/growth/signals'
import { listTargets, targetById } from '#store/growth/targets'
import type { Rows } from './rows.ts'

/** Sorts behind every id: the page after it is the first. */
const END = 'ffffffff-ffff-7fff-bfff-ffffffffffff'
const page = { limit: 10 }
const ever = { from: new Date(0), to: new Date(Date.UTC(9999, 0)) }

/** Keys that test/support/database/rows.ts does not write. */
const written = Object.values(exportSources).filter(({ table }) => table !== 'api_key')

/** Sorts before the key of every row. */
/** A key of the workspace, and a person who may decide some calls. */
const as = { personId: null }
const person = { personId: END }
const decider = { ...person, tools: ['growth_overview'], known: ['growth_overview', 'growth_post_item'], served: true }

const beginOf = ({ key }: ExportSource) => key.map(([, type]) => (type === 'int' ? '0' : '00000000-0000-0000-0000-000000000000'))

/** Behind every time, in microseconds. */
const FAR = Date.UTC(9999, 0) * 1_000
const itemLists = (['created', 'state'] satisfies ItemOrder[]).map((order) => ({
  order,
  statuses: ['publish_unconfirmed'] as const,
  from: new Date(0),
}))

/** An item with a word that is rare on all shelves, and common on all. */
const searched = (word: string): SoughtWords[] =>
  [true, false].map((isRare) => Object.fromEntries(allShelves.map((shelf) => [shelf, { asked: [word], isRare }])))

/** By module and name; several if arguments change the statement. */
export const readQueries: Record<string, (rows: Rows) => Query[]> = {
  'approvals.listApprovals': () => [
    listApprovals({ ...page, as: decider }),
    listApprovals({ ...page, after: END, as: { ...decider, ...as } }),
    listApprovals({ ...page, status: 'pending', as: decider }),
    listApprovals({ ...page, status: 'pending', after: END, as: decider }),
  ],
  'articles.articleById': ({ article }) => [articleById(article.id)],
  'articles.listArticles': () => [
    listArticles(page),
    listArticles({ ...page, after: END }),
    listArticles({ ...page, status: 'ready', from: new Date(0), to: new Date(), after: END }),
  ],
  'attempts.unnamedAttempts': ({ connection }) => [unnamedAttempts(connection.id)],
  'attempts.takenPosts': ({ connection, attempt }) => [
    takenPosts({ sendable: 'post', connectionId: connection.id, externalIds: [attempt.external_id] }),
    takenPosts({ sendable: 'engagement', connectionId: connection.id, externalIds: [attempt.external_id] }),
  ],
  'artifacts.listArtifacts': () => [
    listArtifacts(page),
    listArtifacts({ ...page, before: new Date(Date.UTC(9999, 0)), kind: 'report', source: 'capability' }),
  ],
  'audit.auditPage': ({ audit }) => [
    auditPage(page),
    auditPage({ ...page, after: END, operation: audit.operation, since: new Date(0), until: new Date(Date.UTC(9999, 0)) }),
    auditPage({ ...page, actor: audit.actor_id }),
    auditPage({ ...page, record: audit.ref_id }),
  ],
  'batches.batchById': ({ batch }) => [batchById(batch.id)],
  'batches.listBatches': () => [
    listBatches(page),
    listBatches({ ...page, after: END }),
    listBatches({ ...page, status: 'ready', from: new Date(0), to: new Date(), after: END }),
  ],
  'brief.briefRecord': () => [briefRecord(), briefRecord({ most: 1 })],
  'calendar.calendarOf': () => [calendarOf()],
  'connections.choicesBut': () => [choicesBut(null), choicesBut(END)],
  'connections.connectionById': ({ connection }) => [connectionById(connection.id)],
  'connections.connectionOverview': () => [connectionOverview],
  'connections.defaultConnection': () => [defaultConnection],
  'connections.listConnections': () => [listConnections(page), listConnections({ ...page, after: END })],
  'attempts.unnamedAnswers': ({ connection, engagement }) => [
    unnamedAnswers({ connectionId: connection.id, network: engagement.network, postId: engagement.post_id, action: 'reply' }),
  ],
  'conversations.listConversations': () => [
    listConversations({ ...page, as: { ...as, knowsAll: false } }),
    listConversations({ ...page, after: { at: new Date(Date.UTC(9999, 0)), id: END }, as: { ...person, knowsAll: false } }),
    listConversations({ ...page, status: 'active', visibility: 'workspace', as: { ...person, knowsAll: true } }),
  ],
  'documents.listDocuments': ({ document }) => [
    listDocuments(page),
    listDocuments({ ...page, after: END, status: 'ready' }),
    listDocuments({ ...page, fileName: document.file_name }),
  ],
  'engagements.engagementById': ({ engagement }) => [engagementById(engagement.id)],
  'engagements.listEngagements': () => [
    listEngagements(page),
    listEngagements({ ...page, after: END }),
    listEngagements({ ...page, statuses: ['drafted', 'approved'], action: 'reply', from: new Date(0), to: new Date() }),
    listEngagements({ ...page, statuses: ['drafted'], after: END }),
  ],
  'experiments.experimentById': ({ experiment }) => [experimentById(experiment.id)],
  'experiments.listExperiments': () => [
    listExperiments(page),
    listExperiments({ ...page, after: END }),
    listExperiments({ ...page, status: 'running' }),
    listExperiments({ ...page, status: 'running', after: END }),
  ],
  'export.exportPage': () =>
    written.flatMap((source) => [exportPage(source, page), exportPage(source, { ...page, after: beginOf(source) })]),
  'export.startOf': () => [startOf],
  'feedback.listFeedback': () => [listFeedback({ ...page, as }), listFeedback({ ...page, verdict: 'up', since: new Date(0), as: person })],
  'files.keptFile': ({ file }) => [keptFile(file.id)],
  'files.notedFile': ({ file }) => [notedFile(file.id)],
  'files.fileBlock': ({ file }) => [fileBlock(file.id, 0)],
  'growth-channels.growthChannels': () => [growthChannels],
  'growth-audits.growthAuditById': ({ growth_audit }) => [growthAuditById(growth_audit.id)],
  'growth-audits.listGrowthAudits': () => [
    listGrowthAudits(page),
    listGrowthAudits({ ...page, status: 'failed', from: new Date(0), to: new Date(), after: END }),
  ],
  'hooks.hookUsage': () => [hookUsage],
  'hooks.hookResults': () => [hookResults],
  'idempotency.stateOfKey': ({ idempotency }) => [stateOfKey(idempotency.key)],
  'items.itemById': ({ item }) => [itemById(item.id)],
  'items.itemsOfBatch': ({ batch }) => [itemsOfBatch(batch.id)],
  'items.listItems': () => [
    listItems(page),
    listItems({ ...page, after: END }),
    listItems({ ...page, status: 'publish_unconfirmed' }),
    listItems({ ...page, status: 'publish_unconfirmed', after: END }),
  ],
  'item-lists.findItems': ({ item_word }) => [
    ...itemLists.flatMap((filter) => [findItems(filter, page), findItems(filter, { ...page, after: { id: END, at: FAR } })]),
    ...searched(item_word.word).map((words) => findItems({ ...itemLists[1]!, statuses: undefined, words }, page)),
    findItems({ order: 'created', words: searched(item_word.word)[0]! }, page),
  ],
  'items.recentItems': () => [recentItems(10)],
  'jobs.listJobs': ({ agent_conversation }) => [
    listJobs({ ...page, as }),
    listJobs({ ...page, after: END, as: person }),
    listJobs({ ...page, status: 'queued', kind: 'task', conversation: agent_conversation.id, as: person }),
  ],
  'jobs.listTasks': () => [listTasks(page), listTasks({ ...page, status: 'queued', after: END })],
  'learnings.activeLearnings': () => [activeLearnings(10)],
  'learnings.learningById': ({ learning }) => [learningById(learning.id)],
  'learnings.listLearnings': () => [
    listLearnings(page),
    listLearnings({ ...page, after: END }),
    listLearnings({ ...page, status: 'active', kind: 'worked' }),
    listLearnings({ ...page, status: 'active', kind: 'worked', after: END }),
  ],
  'members.anOwner': () => [anOwner],
  'members.listMembers': () => [listMembers(page), listMembers({ ...page, after: END })],
  'outbox.eventLog': ({ outbox }) => [
    eventLog(page),
    eventLog({ ...page, after: END, state: 'delivered', type: outbox.type }),
    eventLog({ ...page, type: outbox.type }),
  ],
  'products.allProducts': () => [allProducts],
  'products.productById': ({ product }) => [productById(product.id)],
  'products.listProducts': () => [
    listProducts(page),
    listProducts({ ...page, after: END }),
    listProducts({ ...page, status: 'active' }),
    listProducts({ ...page, status: 'active', after: END }),
  ],
  'profiles.readProfile': () => [readProfile],
  'reports.reportById': ({ report }) => [reportById(report.id)],
  'reports.listReports': () => [
    listReports(page),
    listReports({ ...page, after: END }),
    listReports({ ...page, status: 'ready', from: new Date(0), to: new Date(), after: END }),
  ],
  'rule-runs.listRuleRuns': ({ rule }) => [
    listRuleRuns(page),
    listRuleRuns({ ...page, after: END }),
    listRuleRuns({ ...page, ruleId: rule.id }),
    listRuleRuns({ ...page, ruleId: rule.id, after: END }),
  ],
  'rules.listRules': ({ rule }) => [
    listRules(page),
    listRules({ ...page, after: END }),
    listRules({ ...page, ...ever, status: 'paused', trigger: rule.trigger.kind as never }),
  ],
  'rules.ruleById': ({ rule }) => [ruleById(rule.id)],
  'schedules.listSchedules': () => [
    listSchedules(page),
    listSchedules({ ...page, after: { at: new Date(0), id: END } }),
    listSchedules({ ...page, status: 'active' }),
  ],
  'memories.listMemories': () => [
    listMemories({ ...page, personId: null }),
    listMemories({ ...page, personId: null, after: END, scope: 'workspace' }),
  ],
  'playbooks.listPlaybooks': () => [listPlaybooks(page), listPlaybooks({ ...page, status: 'active' })],
  'channel-connections.listChannelConnections': () => [listChannelConnections(page), listChannelConnections({ ...page, after: END })],
  'channel-replies.listReplies': ({ channel_reply }) => [
    listReplies({ ...page, as }),
    listReplies({ ...page, after: END, status: 'held', as: person }),
    listReplies({ ...page, connection: channel_reply.connection_id, as }),
  ],
  'mcp-servers.listMcpServers': () => [listMcpServers(page), listMcpServers({ ...page, after: END })],
  'webhook-rules.listWebhookRules': () => [listWebhookRules(page), listWebhookRules({ ...page, after: END })],
  'search.searchMessages': ({ agent_message }) => [
    searchMessages({ conversationId: agent_message.conversation_id, messageId: agent_message.id }, agent_message.content),
  ],
  'signals.listSignals': ({ signal }) => [
    listSignals(page),
    listSignals({ ...page, status: 'open' }),
    listSignals({ ...page, after: { score: 100, id: END } }),
    listSignals({ ...page, ...ever, target: signal.target_id }),
  ],
  'signals.signalById': ({ signal }) => [signalById(signal.id)],
  'targets.targetById': ({ target }) => [targetById(target.id)],
  'targets.listTargets': () => [
    listTargets(page),
    listTargets({ ...page, after: END }),
    listTargets({ ...page, status: 'active' }),
    listTargets({ ...page, status: 'active', after: END }),
  ],
  'webhooks.endpointOverview': () => [endpointOverview],
  'workspace-invitations.listInvitations': () => [listInvitations(page), listInvitations({ ...page, after: END })],
  'workspace-keys.listKeys': () => [listKeys(page), listKeys({ ...page, after: END })],
  'workspace-keys.livingKeys': () => [livingKeys(10)],
  'workspace.planOfWorkspace': () => [planOfWorkspace],
  'workspace.workspaceOf': () => [workspaceOf],
}

/** An exported query: `export const x: Query = …` or `export const x = (…): Query => …`, up to the next export. */
const EXPORTED = /^export const (\w+)(?:: Query(?:<.*>)? = \(sql\) =>|\s*=\s*\([^)]*\): Query(?:<.*>)? =>)([\s\S]*?)(?=^\S|(?![\s\S]))/gm

/** The names of the reading queries in the source of a module. */
export const readQueriesIn = (source: string): string[] =>
  [...source.matchAll(EXPORTED)].filter(([, , body]) => /sql(?:<.*>)?`\s*(select|with)\b/.test(body!)).map(([, name]) => name!)
