/** Which columns of a workspace's tables are exported. not-exported.ts says why others are not. */
import type { exportKinds } from '#contract/app/workspace'
import { invitationRecord } from '#contract/records/app/invitation'
import { keyRecord } from '#contract/records/app/key'
import type { Sql } from '../engine/db.ts'
import { agentSources } from './export-agent.ts'
import { growthSources } from './export-growth.ts'
import {
  byId,
  type ExportSource,
  exportSourceOf,
  timeColumns,
  wholeTable,
} from './export-source.ts'
import { emailStatus } from './people.ts'

const webhook = [
  'id',
  'url',
  'events',
  'status',
  'disabled_reason',
  'failing_since',
  'failures',
  'held_until',
  ...timeColumns,
]
const event = [
  'id',
  'type',
  'data',
  'state',
  'subject',
  'attempts',
  'next_at',
  'last_error',
  'expires_at',
  'created_at',
]

/** Uses the two existing indexes: one for pending events, one for finished ones. */
const events = (sql: Sql) =>
  sql`select * from outbox where state = 'pending' union all select * from outbox
    where expires_at is not null`

/**
 * The policy shows a tenant only its own row. Whether automation is paused is a column of `actor`.
 */
const selectOwn = (sql: Sql) =>
  sql`select t.*, a.paused from tenant t join actor a on a.tenant_id = t.id`

/** Looks up each person by id, because any other join would scan all people of the deployment. */
const members = (sql: Sql) =>
  sql`select m.*, p.email, ${emailStatus(sql)}, p.former_email, p.name from member m
    cross join lateral (select email, email_verified_at, former_email, name from person
      where id = m.person_id offset 0) p`

export const exportSources: Record<(typeof exportKinds)[number], ExportSource> = {
  workspace: {
    table: 'tenant',
    columns: ['id', 'name', 'plan', 'billing', 'overrides', 'paused', 'created_at', 'deletes_at'],
    key: byId,
    within: selectOwn,
  },
  member: {
    table: 'member',
    columns: ['person_id', 'email', 'email_status', 'former_email', 'name', 'role', ...timeColumns],
    key: [['person_id', 'uuid']],
    within: members,
  },
  invitation: exportSourceOf(invitationRecord),
  ...growthSources,
  ...agentSources,
  webhook: {
    table: 'webhook_endpoint',
    columns: webhook,
    key: [['tenant_id', 'uuid']],
    within: wholeTable('webhook_endpoint'),
  },
  key: exportSourceOf(keyRecord),
  audit: {
    table: 'audit',
    columns: [
      'id',
      'at',
      'actor_kind',
      'actor_id',
      'surface',
      'operation',
      'ref_id',
      'request_id',
      'detail',
    ],
    key: byId,
  },
  event: { table: 'outbox', columns: event, key: byId, within: events },
}
