/** An item: a draft, and what becomes of it. */
import { Type as T } from '@sinclair/typebox'
import {
  AuthorSchema,
  Id,
  NamedAuthorSchema,
  nameForModels,
  nullable,
  oneOf,
  record,
  Time,
} from '../../shapes.ts'
import { declare } from '../record.ts'
import { PostingAccount } from './connection.ts'
import { decisionField } from './decision.ts'
import { DoubtSchema } from './doubt.ts'
import { KeptMarks, MarksSchema } from './marks.ts'
import { restoredField } from './restored.ts'
import { sourceFields } from './source.ts'

export const itemStatuses = [
  'drafted',
  'approved',
  'publishing',
  'posted',
  'rejected',
  'publish_failed',
  'publish_unconfirmed',
] as const
export const ItemStatusSchema = oneOf(itemStatuses)
export const OnMissedSchema = oneOf(['post', 'skip'], {
  description:
    'If overdue: post it when less than an hour late, or skip it and return it to approved.',
})

/** What networks count for a post; see `NetworkLimits.counts`. */
export const countNames = [
  'impressions',
  'likes',
  'replies',
  'reposts',
  'quotes',
  'clicks',
] as const
/** What others did with a post. Every network counts these. */
export const reactionNames = ['likes', 'replies', 'reposts', 'quotes'] as const
export type CountName = (typeof countNames)[number]

const uncounted = { description: 'Null where the network does not count them.' }

export const metricCounts = {
  impressions: nullable(T.Integer({ minimum: 0 }), uncounted),
  likes: T.Integer({ minimum: 0 }),
  replies: T.Integer({ minimum: 0 }),
  reposts: T.Integer({ minimum: 0 }),
  quotes: T.Integer({ minimum: 0 }),
  clicks: nullable(T.Integer({ minimum: 0 }), uncounted),
}

const Metrics = record(
  { at: Time, ...metricCounts },
  {
    title: 'Metrics',
    description: "The network's counts at the last read; null before the first.",
  },
)

export const Warnings = T.Array(
  record({
    code: oneOf([
      'avoided_phrase',
      'repeats_item',
      'costly_link',
      'outside_cadence',
      'slot_taken',
      'unseen_characters',
    ]),
    message: T.String(),
    item_id: nullable(
      T.String({
        format: 'uuid',
        description: 'The item that it repeats, or that has its minute.',
      }),
    ),
  }),
  {
    description:
      'What to know before approving or scheduling it; a warning refuses nothing. Empty in other states.',
  },
)

/**
 * The last request to rewrite a version of the text, as long as it has not led to a new version.
 */
const Redraft = record({ status: oneOf(['queued', 'generating', 'failed']), revision: T.Integer() })

/**
 * For a draft: the approved, scheduled or posted item with nearly the same text, and when it was
 * posted or is due.
 */
const Repeated = record({ id: Id, status: T.String(), at: nullable(Time) })

export const itemRecord = declare(
  'item',
  { title: 'Item' },
  {
    id: { type: 'uuid', shown: Id, fixed: true },
    batch_id: { type: 'uuid', shown: nullable(Id), fixed: true },
    experiment_id: { type: 'uuid', shown: nullable(Id), fixed: true },
    arm: {
      type: 'text',
      shown: nullable(T.String({ description: 'The name of the experiment arm.' })),
      fixed: true,
    },
    resurfaced_from: {
      type: 'uuid',
      shown: nameForModels(
        'item',
        nullable(
          T.String({ format: 'uuid', description: 'The posted item that this one resurfaces.' }),
        ),
      ),
      fixed: true,
    },
    ...sourceFields,
    kind: { type: 'text', shown: oneOf(['post', 'article']), fixed: true },
    title: {
      type: 'text',
      shown: nullable(
        T.String({ description: "The first line of an article's body; null for posts." }),
      ),
    },
    status: { type: 'text', shown: ItemStatusSchema },
    review: {
      type: 'boolean',
      shown: T.Boolean({
        description: 'True when publish_unconfirmed and a person must check whether it was posted.',
      }),
    },
    body: { type: 'text', shown: T.String() },
    // An approval binds them; a draft's are of the text and account that they name, and no others.
    marks: { type: 'jsonb', of: KeptMarks, null: true, shown: nullable(MarksSchema) },
    format: { type: 'text', shown: T.String() },
    hook: { type: 'text', shown: T.String({ description: 'The opening pattern used.' }) },
    rationale: { type: 'text', shown: T.String({ description: 'Why this was drafted.' }) },
    stories: {
      type: 'jsonb',
      shown: T.Array(T.String(), { description: 'Stories of the profile that it uses.' }),
    },
    learnings: { type: 'jsonb', shown: T.Array(Id, { description: 'Learnings that it follows.' }) },
    length: {
      type: 'integer',
      shown: T.Integer({ description: "Counted by the network's rule." }),
    },
    // Set on an approved item: it is scheduled.
    post_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    on_missed: { type: 'text', shown: nullable(OnMissedSchema) },
    approved_hash: {
      type: 'text',
      null: true,
      hidden:
        'SHA-256 of the approved text and account, which binds the approval; clients compare content_hash',
      unexported: 'binds an approval to its text; useless elsewhere',
    },
    account_external_id: {
      type: 'text',
      shown: nullable(
        T.String({ description: "The network's id of the account that the approval covers." }),
      ),
      as: 'account',
    },
    reject_reason: { type: 'text', shown: nullable(T.String()) },
    external_id: {
      type: 'text',
      shown: nullable(T.String({ description: "The network's id of the post." })),
    },
    url: { type: 'text', shown: nullable(T.String()) },
    posted_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    last_error: { type: 'text', shown: nullable(T.String()) },
    restored_as_of: restoredField,
    metrics: {
      type: 'jsonb',
      shown: nullable(Metrics),
      from: 'query',
      unexported: 'the newest of its metrics, all of which are exported',
    },
    metrics_at: {
      type: 'timestamp with time zone',
      null: true,
      hidden: 'when metrics were last read, which they say themselves',
      from: 'elsewhere',
      unexported: 'when metrics were last read; the metrics themselves are exported',
    },
    doubt: { shown: nullable(DoubtSchema), from: 'query' },
    tags: { type: 'text[]', shown: T.Array(T.String()) },
    note: { type: 'text', shown: nullable(T.String({ description: 'For the team; never sent.' })) },
    // When it was due to go out before it last became a draft again.
    proposed_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    revision: {
      type: 'integer',
      shown: T.Integer({ description: 'Counts versions of the text, from 1.' }),
    },
    written_by: {
      type: 'jsonb',
      of: AuthorSchema,
      null: true,
      shown: nullable(NamedAuthorSchema, {
        description: 'Who wrote the present text; null: a drafter.',
      }),
    },
    written_at: {
      type: 'timestamp with time zone',
      null: true,
      hidden: 'when; null: as the item was made. Its revisions show it',
    },
    account_id: {
      type: 'uuid',
      null: true,
      hidden:
        'the connection that a person chose; null: the default one at its approval. posting_account shows it',
    },
    original_body: {
      shown: nullable(T.String({ description: 'The first text, if a later one has replaced it.' })),
      from: 'query',
    },
    content_hash: {
      shown: T.String({
        description: 'SHA-256 of the text that the network is given, and of its marks.',
      }),
      from: 'view',
    },
    posting_account: { shown: nameForModels('account', nullable(PostingAccount)), from: 'query' },
    decision: decisionField([
      'approved',
      'scheduled',
      'unscheduled',
      'reopened',
      'rejected',
      'post_requested',
      'marked_posted',
    ]),
    comments: {
      type: 'integer',
      shown: T.Integer({ description: 'How many comments it has.' }),
      from: 'query',
      unexported: 'follows from its comments, which are exported',
    },
    repeats: { of: Repeated, null: true, hidden: 'shown among the warnings', from: 'query' },
    avoid: {
      of: T.Array(T.String()),
      null: true,
      hidden: 'phrases that the profile avoids, shown among the warnings',
      from: 'query',
    },
    warnings: { shown: Warnings, from: 'view' },
    redraft: {
      type: 'jsonb',
      of: Redraft,
      shown: nullable(
        oneOf(['queued', 'generating', 'failed'], {
          description: 'Set while it is written again, and if that failed.',
        }),
      ),
      from: 'query',
      unexported: 'the state of a request, for as long as its text is the present one',
    },
    created_at: { type: 'timestamp with time zone', shown: Time, fixed: true },
    updated_at: { type: 'timestamp with time zone', shown: Time },
    deleted_at: {
      type: 'timestamp with time zone',
      null: true,
      hidden: 'a deleted item is not shown',
      from: 'elsewhere',
    },
    deleted_status: {
      type: 'text',
      null: true,
      hidden: 'what it will be when it is restored',
      from: 'elsewhere',
    },
    prints: {
      type: 'integer[]',
      null: true,
      hidden: 'by which texts are compared',
      from: 'elsewhere',
      unexported: 'follows from the text, which is exported',
    },
    at: {
      type: 'timestamp with time zone',
      hidden: 'by which lists are ordered',
      from: 'generated',
      unexported: 'follows from the status and the other times',
    },
  },
)

export const ItemSchema = itemRecord.schema
