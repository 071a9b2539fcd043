/** One row of a workspace in each table, written past every policy. */
import { createHash } from 'node:crypto'
import type postgres from 'postgres'
import { artifactRecord, shareRecord } from '#contract/records/agent/artifact'
import { documentRecord } from '#contract/records/agent/document'
import { feedbackRecord } from '#contract/records/agent/feedback'
import { memoryRecord } from '#contract/records/agent/memory'
import { playbookRecord, versionRecord } from '#contract/records/agent/playbook'
import { articleRecord } from '#contract/records/growth/article'
import { batchRecord } from '#contract/records/growth/batch'
import { engagementRecord } from '#contract/records/growth/engagement'
import { itemRecord } from '#contract/records/growth/item'
import { learningRecord } from '#contract/records/growth/learning'
import { productRecord } from '#contract/records/growth/product'
import { signalRecord } from '#contract/records/growth/signal'
import { targetRecord } from '#contract/records/growth/target'
import { newId } from '#kernel/ids'
import { sampleOf } from './sample.ts'

/** The text by which every row shows its workspace, so that a leak is recognised. */
export const markOf = (tenantId: string): string => `row of ${tenantId}`

const sampleRows = (tenantId: string, person: string) => {
  const mark = markOf(tenantId)
  const now = new Date()
  const times = { created_at: now, updated_at: now }
  const [batch, item, connection, engagement, target, rule] = [newId(), newId(), newId(), newId(), newId(), newId()]
  const [conversation, job, playbook] = [newId(), newId(), newId()]
  const [webhookRule, file, artifact, share, document, mcpServer] = [newId(), newId(), newId(), newId(), newId(), newId()]
  const channel = newId()
  return {
    growth_channel: { id: newId(), name: mark, status: 'active', ...times },
    growth_audit: { id: newId(), status: 'failed', error: mark, days: 30, source: 'synced', ...times },
    report: { id: newId(), status: 'ready', origin: 'manual', week: '2026-11-16', time_zone: 'UTC', markdown: mark, ...times },
    learning: sampleOf(learningRecord, mark, {}),
    product: sampleOf(productRecord, mark, {}),
    experiment: { id: newId(), name: mark, hypothesis: mark, metric: 'likes', arms: [], status: 'running', ...times },
    profile: { data: { goal: mark }, ...times },
    profile_revision: { number: 1, data: { goal: mark }, written_at: now },
    connection: { id: connection, network: 'sandbox', external_id: mark, handle: mark, status: 'connected', is_default: true, ...times },
    batch: sampleOf(batchRecord, mark, { id: batch, status: 'ready' }),
    item: sampleOf(itemRecord, mark, { id: item, batch_id: batch, status: 'publish_unconfirmed' }),
    redraft: { id: newId(), item_id: item, revision: 1, hint: mark, status: 'failed', ...times },
    revision: { record_id: item, number: 1, body: mark, written_at: now },
    item_print: { print: 1, item_id: item, until: now },
    comment: { id: newId(), item_id: item, kind: 'comment', body: mark, written_by: { kind: 'person', id: person }, created_at: now },
    article: sampleOf(articleRecord, mark, { status: 'ready', title: mark, item_id: item }),
    item_metric: { id: newId(), item_id: item, at: now, impressions: 1, likes: 0, replies: 0, reposts: 0, quotes: 0, clicks: 0 },
    rule: { id: rule, name: mark, status: 'paused', trigger: { kind: mark }, action: { kind: mark }, daily_cap: 1, ...times },
    rule_run: {
      id: newId(),
      rule_id: rule,
      trigger: 'item_posted',
      occurrence: mark,
      status: 'skipped',
      reason: mark,
      made_id: batch,
      created_at: now,
    },
    attempt: {
      ...{
        id: newId(),
        sendable: 'post',
        item_id: item,
        number: 1,
        connection_id: connection,
        body_sha: mark,
        sent_text: mark,
        origin: 'manual',
        state: 'doubt',
      },
      ...{ intent_at: now, lease_until: now, external_id: mark },
    },
    engagement: sampleOf(engagementRecord, mark, { id: engagement, status: 'drafted' }),
    engagement_attempt: {
      ...{
        id: newId(),
        sendable: 'engagement',
        engagement_id: engagement,
        number: 1,
        connection_id: connection,
        body_sha: mark,
        sent_text: mark,
        origin: 'manual',
      },
      ...{ state: 'doubt', intent_at: now, lease_until: now, external_id: mark },
    },
    target: sampleOf(targetRecord, mark, { id: target }),
    signal: sampleOf(signalRecord, mark, {
      target_id: target,
      post_text: mark,
      reasons: [mark],
      expires_at: new Date(now.getTime() + 86_400_000),
    }),
    resident_post: { id: newId(), post_id: mark, resident: mark, text: mark, created_at: now },
    work: { id: newId(), lane: 'sync', kind: mark, ref_id: item, origin: 'manual', run_at: new Date(now.getTime() + 86_400_000) },
    idempotency: {
      ref_id: item,
      key: mark,
      operation: mark,
      fingerprint: mark,
      state: 'done',
      status: 200,
      body: mark,
      expires_at: new Date(now.getTime() + 86_400_000),
    },
    counter: { key: mark, period: mark, used: 1 },
    audit: { id: newId(), at: now, actor_kind: 'system', actor_id: mark, surface: 'test', operation: mark, ref_id: item },
    outbox: { id: newId(), type: mark, data: {}, created_at: now, state: 'delivered', expires_at: new Date(now.getTime() + 86_400_000) },
    member: { person_id: person, role: 'owner', ...times },
    session: { id: newId(), person_id: person, kind: 'browser', user_agent: mark, expires_at: new Date(now.getTime() + 86_400_000) },
    invitation: {
      id: newId(),
      proves_email: false,
      email: mark,
      role: 'viewer',
      token_hash: Buffer.from(mark),
      expires_at: new Date(now.getTime() + 86_400_000),
    },
    api_key: { id: newId(), name: mark, hash: Buffer.from(mark), last4: '0000', scopes: ['api:read'], person_id: person },
    agent_conversation: { id: conversation, title: mark, status: 'active', origin: 'app', last_at: now, ...times },
    agent_message: { id: newId(), conversation_id: conversation, seq: 1, role: 'user', content: mark, author: {}, ...times },
    agent_feedback: sampleOf(feedbackRecord, mark, { conversation_id: conversation, user_id: person }),
    agent_job: {
      ...{ id: job, kind: 'task', status: 'queued', goal: mark, conversation_id: conversation, root_id: job, origin: 'manual' },
      ...{ on_behalf: {}, tier: 'fast', model: mark, ...times },
    },
    agent_step: { id: newId(), job_id: job, number: 1, kind: 'tool', name: mark, state: 'done', started_at: now, ...times },
    agent_approval: {
      ...{ id: newId(), job_id: job, step_id: newId(), goal: mark, tool_name: mark, summary: mark, arguments: {}, arguments_hash: mark },
      ...{ subject: {}, why: [], status: 'pending', expires_at: now, ...times },
    },
    agent_tool_rule: { id: newId(), tool_name: mark, decision: 'ask', set_by: person, ...times },
    agent_schedule: {
      ...{
        id: newId(),
        goal: mark,
        at: now,
        time_zone: 'UTC',
        status: 'active',
        next_at: new Date(now.getTime() + 86_400_000),
        on_behalf: {},
      },
      ...times,
    },
    file: { id: file, store: 'postgres', byte_size: 1, sha256: '0'.repeat(64), digests: Buffer.alloc(32), kept_at: now },
    artifact: sampleOf(artifactRecord, mark, { id: artifact, sha256: '0'.repeat(64), file_id: file }),
    artifact_share: sampleOf(shareRecord, mark, {
      ...{ id: share, artifact_id: artifact, token_hash: createHash('sha256').update(mark).digest() },
      expires_at: new Date(now.getTime() + 86_400_000),
    }),
    file_block: { file_id: file, number: 0, bytes: Buffer.from('x') },
    webhook_rule: { id: webhookRule, name: mark, goal: mark, secret: Buffer.from(mark), enabled: true, on_behalf: {}, ...times },
    inbound_event: { source_id: webhookRule, event_id: mark, job_id: job, at: now },
    inbound_route: { kind: 'rule', key: mark, ref_id: webhookRule },
    channel_connection: {
      ...{ id: channel, channel: 'dev', routing_key: mark, display_name: mark, sender_policy: 'members', status: 'active' },
      ...{ credentials: Buffer.from(mark), ...times },
    },
    channel_identity: { id: newId(), connection_id: channel, external_id: mark, person_id: person, verified_at: now, ...times },
    channel_link_code: { connection_id: channel, person_id: person, code_hash: mark, expires_at: now },
    channel_message: {
      ...{ id: newId(), connection_id: channel, state: 'taken', sender: mark, thread: mark, text: mark, reply_to: {} },
      ...{ job_id: job, conversation_id: conversation, ...times },
    },
    channel_reply: {
      ...{ id: newId(), connection_id: channel, job_id: job, recipient: mark, reply_to: {}, text: mark, parts: [], status: 'held' },
      ...times,
    },
    mcp_server: { id: mcpServer, name: mark, tool_prefix: mark, enabled: false, status: 'refused', headers: Buffer.from(mark), ...times },
    mcp_tool: {
      ...{ id: newId(), server_id: mcpServer, name: mark, own_name: mark, title: mark, description: mark, parameters: {} },
      ...{ read_only_hint: false, hash: mark, ...times },
    },
    agent_module: { name: mark, mcp: true, set_by: person, ...times },
    playbook: sampleOf(playbookRecord, mark, { id: playbook, slug: mark.slice(-36) }),
    playbook_version: sampleOf(versionRecord, mark, { playbook_id: playbook, state: 'active' }),
    document: sampleOf(documentRecord, mark, { id: document, status: 'ready' }),
    document_passage: { document_id: document, number: 0, path: [], start_at: 0, end_at: 1, text: mark },
    item_word: { word: mark, item_id: item },
    document_word: { word: mark, document_id: document, block: 0, passages: 1 },
    agent_memory: sampleOf(memoryRecord, mark, { scope: 'workspace', configuration: 'simple' }),
    agent_event: { job_id: job, seq: 1, at: now, type: mark, data: {} },
    webhook_endpoint: { id: newId(), url: mark, secret: Buffer.from(mark), status: 'active', ...times },
  }
}

/** Tables of rows that have another name here, because the table holds several kinds. */
const tableOf: Partial<Record<string, string>> = { engagement_attempt: 'attempt' }

/** By table. */
export type Rows = ReturnType<typeof sampleRows>

/** Writes the rows of a tenant, which must exist. */
export const writeRows = async (owner: postgres.Sql, tenantId: string): Promise<Rows> => {
  const person = newId()
  await owner`insert into person (id, email, email_key, name, password_hash)
    values (${person}, ${markOf(tenantId)}, ${person}, ${markOf(tenantId)}, 'none')`
  const rows = sampleRows(tenantId, person)
  for (const [table, row] of Object.entries(rows)) {
    const values = Object.entries({ ...row, tenant_id: tenantId }).map(([name, value]) => [
      name,
      isJson(value) ? owner.json(value as never) : value,
    ])
    await owner`insert into ${owner(tableOf[table] ?? table)} ${owner(Object.fromEntries(values))}`
  }
  return rows
}

const isJson = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !(value instanceof Date) && !Buffer.isBuffer(value) && !isTextArray(value)

/** In these rows an empty list is JSON and any other list an array of Postgres. */
const isTextArray = (value: unknown): boolean => Array.isArray(value) && value.length > 0
