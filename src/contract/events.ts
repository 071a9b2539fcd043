/**
 * Webhook events and their payloads. The API document defines the first three; the others are
 * extensions.
 */
import { Type as T, type TSchema } from '@sinclair/typebox'
import { channelNames } from './channel-names.ts'
import { Id, nullable, oneOf, record, Time } from './shapes.ts'

interface EventDeclaration {
  type: string
  summary: string
  /** The schema of the payload's `data`. */
  data: TSchema
}

const error = nullable(
  T.String({ description: 'The error code of the record, such as generation_failed: <hint>.' }),
)
const reason = T.String({ description: 'The last_error of the item.' })
const ofItem = { item_id: Id, batch_id: nullable(Id) }

/** A record that awaits a person's decision. `kind` determines which ids it has. */
const Approval = T.Union([
  record({
    kind: oneOf(['batch']),
    batch_id: Id,
    items: T.Integer({ minimum: 1, description: 'How many drafts the batch has.' }),
  }),
  record({ kind: oneOf(['article']), article_id: Id, item_id: Id }),
  record({ kind: oneOf(['item', 'item_review']), item_id: Id }),
  record({
    kind: oneOf(['engagement']),
    engagement_id: Id,
    action: oneOf(['reply', 'quote', 'repost', 'like']),
  }),
  record({ kind: oneOf(['engagement_review']), engagement_id: Id }),
  record({
    kind: oneOf(['playbook']),
    playbook_id: Id,
    version_id: Id,
    slug: T.String(),
    url: T.String(),
  }),
  record({
    kind: oneOf(['agent']),
    approval_id: Id,
    job_id: Id,
    tool_name: T.String(),
    summary: T.String(),
    url: T.String(),
  }),
  record({
    kind: oneOf(['reply']),
    reply_id: Id,
    job_id: nullable(Id),
    connection_id: Id,
    channel: oneOf(channelNames),
    recipient: T.String(),
    /** Absent in older events, which did not state it. */
    why: T.Optional(T.String()),
    url: T.String(),
  }),
])

export const events = [
  {
    type: 'growth.batch.settled',
    summary: "A batch is ready or has failed; includes the record's error code.",
    data: record({
      batch_id: Id,
      status: oneOf(['ready', 'failed']),
      error,
      requested: T.Integer(),
      delivered: T.Integer(),
    }),
  },
  {
    type: 'growth.approval.requested',
    summary:
      'Drafts await approval, a person must check a post in doubt, the agent asks before it does something, or a reply to a channel is held.',
    data: Approval,
  },
  {
    type: 'growth.item.posted',
    summary: 'An item was posted, by any means.',
    data: record({
      ...ofItem,
      external_id: nullable(T.String()),
      url: nullable(T.String()),
      posted_at: Time,
    }),
  },
  {
    type: 'growth.item.returned',
    summary:
      'An item returned to approved, unscheduled: it was due and not sent, or the network returned an error and did not post it. Includes the reason.',
    data: record({ ...ofItem, reason }),
  },
  {
    type: 'growth.item.failed',
    summary: 'The network refused an item, or was unreachable for an hour.',
    data: record({ ...ofItem, reason }),
  },
  {
    type: 'growth.connection.lost',
    summary:
      'A network no longer accepts what an account was connected with. Scheduled posts wait for it until they count as missed.',
    data: record({
      connection_id: Id,
      network: T.String(),
      handle: T.String(),
      status: oneOf(['needs_reauth', 'suspended']),
      reason: T.String(),
    }),
  },
  {
    type: 'agent.job.settled',
    summary: 'A job of the agent is over.',
    data: record({
      job_id: Id,
      kind: T.String(),
      conversation_id: nullable(Id),
      status: oneOf(['completed', 'failed', 'cancelled']),
      error: nullable(T.String()),
    }),
  },
  {
    type: 'agent.approval.decided',
    summary:
      'A person has allowed or refused what the agent asked for, or somebody has made it needless.',
    data: record({
      approval_id: Id,
      job_id: Id,
      tool_name: T.String(),
      status: oneOf(['approved', 'rejected']),
      decided_how: oneOf(['person', 'moot'], {
        description: 'moot: somebody made the call needless; nobody refused it.',
      }),
      edited: T.Boolean(),
    }),
  },
  {
    type: 'agent.budget.warning',
    summary: 'The agent has used four fifths of a budget. Sent once a period.',
    data: record({
      budget: oneOf(['agent_tokens_day', 'agent_tokens_month', 'agent_cost_month']),
      period: T.String(),
      used: T.Integer(),
      limit: T.Integer(),
    }),
  },
  {
    type: 'agent.schedule.paused',
    summary:
      'A schedule of the agent was paused, because its last runs have failed or whoever made it has left.',
    data: record({
      schedule_id: Id,
      goal: T.String(),
      reason: oneOf(['failures', 'caller_gone']),
      last_job_id: nullable(Id),
    }),
  },
  {
    type: 'agent.channel.failing',
    summary:
      'A channel has ceased to work, or could not be connected: its provider refuses the credentials, or another workspace has it.',
    data: record({
      connection_id: Id,
      channel: oneOf(channelNames),
      routing_key: T.String(),
      display_name: T.String(),
      error: T.String(),
    }),
  },
  {
    type: 'webhook.test',
    summary: "A test event, sent on request whatever the endpoint's allow-list.",
    data: record({}),
  },
] as const satisfies EventDeclaration[]

export const eventKinds = events.map(({ type }) => type)
