/** Which columns of a workspace's tables are exported; not-exported.ts says why others are not. */
import type { exportKinds } from '#contract/app/workspace'
import { articleRecord } from '#contract/records/growth/article'
import { batchRecord } from '#contract/records/growth/batch'
import { engagementRecord } from '#contract/records/growth/engagement'
import { itemRecord } from '#contract/records/growth/item'
import { learningRecord } from '#contract/records/growth/learning'
import { productRecord } from '#contract/records/growth/product'
import { signalRecord } from '#contract/records/growth/signal'
import { targetRecord } from '#contract/records/growth/target'
import { exportedOf } from '#contract/records/record'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { agentSources } from './export-agent.ts'
import { byId, type ExportSource, times } from './export-source.ts'
import { emailStatus } from './people.ts'

const attempt = [
  ...['id', 'item_id', 'number', 'connection_id', 'body_sha', 'sent_text', 'origin', 'state', 'intent_at', 'lease_until'],
  ...['doubt_at', 'doubt_cause', 'clean_reads', 'reads', 'external_id', 'error', 'ended_at'],
]
const webhook = ['id', 'url', 'events', 'status', 'disabled_reason', 'failing_since', 'failures', 'held_until', ...times]
const event = ['id', 'type', 'data', 'state', 'subject', 'attempts', 'next_at', 'last_error', 'expires_at', 'created_at']

/** By the two indexes that exist: for pending events, and for finished ones. */
const events = (sql: Sql) => sql`select * from outbox where state = 'pending' union all select * from outbox where expires_at is not null`

/** The policy shows a tenant its own row only. Whether automation is paused is a column of `actor`. */
const own = (sql: Sql) => sql`select t.*, a.paused from tenant t join actor a on a.tenant_id = t.id`

/** Looks up each person by id: any other join would scan all people of the deployment. */
const members = (sql: Sql) =>
  sql`select m.*, p.email, ${emailStatus(sql)}, p.former_email, p.name from member m
    cross join lateral (select email, email_verified_at, former_email, name from person where id = m.person_id offset 0) p`

const all = (table: string) => (sql: Sql) => sql`select * from ${sql(table)}`

export const exportSources: Record<(typeof exportKinds)[number], ExportSource> = {
  workspace: {
    table: 'tenant',
    columns: ['id', 'name', 'plan', 'billing', 'overrides', 'paused', 'created_at', 'deletes_at'],
    key: byId,
    within: own,
  },
  member: {
    table: 'member',
    columns: ['person_id', 'email', 'email_status', 'former_email', 'name', 'role', ...times],
    key: [['person_id', 'uuid']],
    within: members,
  },
  invitation: {
    table: 'invitation',
    columns: ['id', 'email', 'proves_email', 'role', 'invited_by', 'created_at', 'expires_at', 'accepted_at', 'accepted_by', 'revoked_at'],
    key: byId,
  },
  profile: {
    table: 'profile',
    columns: ['data', 'revision', 'written_by', 'changed', ...times],
    key: [['tenant_id', 'uuid']],
    within: all('profile'),
  },
  profile_revision: {
    table: 'profile_revision',
    columns: ['number', 'data', 'written_by', 'written_at', 'changed'],
    key: [['number', 'int']],
  },
  channel: {
    table: 'growth_channel',
    columns: ['id', 'name', 'status', 'format_rules', 'cadence', ...times],
    key: byId,
    within: all('growth_channel'),
  },
  learning: {
    table: 'learning',
    columns: exportedOf(learningRecord),
    key: byId,
    within: all('learning'),
  },
  product: {
    table: 'product',
    columns: exportedOf(productRecord),
    key: byId,
    within: all('product'),
  },
  experiment: {
    table: 'experiment',
    columns: ['id', 'name', 'hypothesis', 'metric', 'arms', 'status', 'result', 'comparison', 'tally', 'concluded_at', ...times],
    key: byId,
    within: all('experiment'),
  },
  connection: { table: 'connection', columns: ['id', 'network', 'external_id', 'handle', 'status', 'is_default', ...times], key: byId },
  batch: {
    table: 'batch',
    columns: exportedOf(batchRecord),
    key: byId,
  },
  article: {
    table: 'article',
    columns: exportedOf(articleRecord),
    key: byId,
  },
  growth_audit: {
    table: 'growth_audit',
    columns: ['id', 'status', 'error', 'days', 'source', 'given', 'result', 'model', 'usage', ...times],
    key: byId,
  },
  report: {
    table: 'report',
    columns: ['id', 'status', 'error', 'origin', 'week', 'time_zone', 'data', 'markdown', 'model', 'usage', ...times],
    key: byId,
  },
  item: { table: 'item', columns: exportedOf(itemRecord), key: byId },
  revision: {
    table: 'revision',
    columns: ['record_id', 'number', 'title', 'body', 'written_by', 'written_at'],
    key: [
      ['record_id', 'uuid'],
      ['number', 'int'],
    ],
  },
  comment: { table: 'comment', columns: ['id', 'item_id', 'kind', 'body', 'written_by', 'created_at'], key: byId },
  metric: {
    table: 'item_metric',
    columns: ['id', 'item_id', 'at', 'impressions', 'likes', 'replies', 'reposts', 'quotes', 'clicks'],
    key: byId,
  },
  rule: {
    table: 'rule',
    columns: ['id', 'name', 'status', 'trigger', 'conditions', 'action', 'daily_cap', 'day', 'used', 'over', 'last_run_at', ...times],
    key: byId,
  },
  rule_run: {
    table: 'rule_run',
    columns: [
      ...['id', 'rule_id', 'trigger', 'occurrence', 'chain', 'status', 'reason', 'conditions', 'made_kind', 'made_id', 'quota', 'units'],
      ...['cost_micros', 'created_at', 'started_at', 'ended_at'],
    ],
    key: byId,
  },
  attempt: {
    table: 'attempt',
    columns: [...attempt, 'returns_from', 'proof_reads'],
    having: 'item_id',
    key: [
      ['item_id', 'uuid'],
      ['number', 'int'],
    ],
  },
  engagement: { table: 'engagement', columns: exportedOf(engagementRecord), key: byId },
  engagement_attempt: {
    table: 'attempt',
    columns: ['engagement_id', ...attempt.filter((column) => column !== 'item_id')],
    having: 'engagement_id',
    key: [
      ['engagement_id', 'uuid'],
      ['number', 'int'],
    ],
  },
  target: {
    table: 'target',
    columns: exportedOf(targetRecord),
    key: byId,
    within: all('target'),
  },
  signal: { table: 'signal', columns: exportedOf(signalRecord), key: byId },
  ...agentSources,
  webhook: { table: 'webhook_endpoint', columns: webhook, key: [['tenant_id', 'uuid']], within: all('webhook_endpoint') },
  key: {
    table: 'api_key',
    columns: ['id', 'name', 'last4', 'scopes', 'person_id', 'created_at', 'expires_at', 'revoked_at', 'last_used_at'],
    key: byId,
  },
  audit: {
    table: 'audit',
    columns: ['id', 'at', 'actor_kind', 'actor_id', 'surface', 'operation', 'ref_id', 'request_id', 'detail'],
    key: byId,
  },
  event: { table: 'outbox', columns: event, key: byId, within: events },
}

export interface Paged extends Record<string, unknown> {
  /** This row's key, as text; the next page begins after it. */
  after: string[]
}

const position = (sql: Sql, key: ExportSource['key'], after: string[]): Fragment =>
  list(
    sql,
    key.map(([, type], index) => sql`${after[index]!}::text::${sql.raw(type)}`),
  )

const list = (sql: Sql, parts: Fragment[]): Fragment => sql`${parts.map((part, index) => (index === 0 ? part : sql`, ${part}`))}`

/** A page of a table, in the order of its key. */
export const exportPage =
  (
    { table, columns, key, having, within }: ExportSource,
    { after, limit }: { after?: string[] | undefined; limit: number },
  ): Query<Paged> =>
  (sql) => {
    const order = sql(key.map(([column]) => column))
    const keyText = list(
      sql,
      key.map(([column]) => sql`${sql(column)}::text`),
    )
    return sql`select ${sql(columns)}, array[${keyText}] as after
      from ${within ? sql`(${within(sql)} offset 0) r` : sql(table)}
      where ${having ? sql`${sql(having)} is not null` : sql`true`} ${after ? sql`and (${order}) > (${position(sql, key, after)})` : sql``} order by ${order} limit ${limit}`
  }

/** The export's start by the database's clock, and its workspace. */
export const startOf: Query<{ at: Date; workspace_id: string }> = (sql) =>
  sql`select clock_timestamp() as at, id as workspace_id from tenant`
