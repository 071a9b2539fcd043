/** What a job asks of people: one call of a tool, as it was shown. */
import { Type as T, type TSchema } from '@sinclair/typebox'
import { roles } from '#kernel/roles'
import {
  AuthorSchema,
  Id,
  markUntrustedIf,
  NamedAuthorSchema,
  nullable,
  oneOf,
  record,
  Time,
} from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'

export const approvalStatuses = ['pending', 'approved', 'rejected'] as const
const outcomes = ['running', 'done', 'failed', 'unknown', 'stale', 'moot'] as const

/**
 * A call that a job asks for after it has read text of outside people may do what that text says.
 * It counts as untrusted until a person has approved it.
 */
const ofJob = <S extends TSchema>(schema: S): S =>
  markUntrustedIf({ field: 'job.taint', unless: ['status', 'approved'] }, schema)
/** The message of somebody outside, if one began the job. */
const markChannelText = <S extends TSchema>(schema: S): S =>
  markUntrustedIf({ field: 'job.taint', begins: 'channel ' }, schema)

/** The records that a call is about, as they were shown, and what would go out. */
const Subject = record({
  records: T.Array(record({ kind: T.String(), id: Id, sha256: T.String() })),
  account: nullable(
    T.String({ description: 'The account that it would go out from, such as @dockside.' }),
  ),
  text: ofJob(nullable(T.String({ description: 'The exact text that would go out.' }))),
  sha256: nullable(T.String({ description: 'Of the text.' })),
})

export const approvalRecord = declare(
  'agent_approval',
  { title: 'AgentApproval' },
  {
    id,
    job_id: { type: 'uuid', shown: Id, fixed: true },
    step_id: { type: 'uuid', hidden: 'of use to the service alone', fixed: true },
    // The conversation that the root of its job's tree belongs to.
    conversation_id: { type: 'uuid', null: true, hidden: 'shown with its job', fixed: true },
    url: { shown: T.String({ description: 'The page where a person decides.' }), from: 'view' },
    job: {
      shown: nullable(
        record({
          id: Id,
          goal: markChannelText(T.String()),
          taint: T.Array(T.String(), {
            description: 'Where untrusted text that the job has read came from.',
          }),
        }),
      ),
      from: 'view',
    },
    tool_name: { type: 'text', shown: T.String() },
    goal: { type: 'text', shown: markChannelText(T.String()) },
    summary: {
      type: 'text',
      shown: ofJob(
        T.String({ description: 'What will happen, in a sentence made from the records.' }),
      ),
    },
    arguments: { type: 'jsonb', shown: ofJob(T.Record(T.String(), T.Unknown())) },
    arguments_hash: {
      type: 'text',
      hidden: 'by which equal calls are found',
      unexported: 'binds an approval to its arguments, which are exported',
    },
    subject: { type: 'jsonb', shown: Subject },
    sha256: {
      shown: T.String({
        description: 'Of the whole call as it was shown: tool, arguments and subject.',
      }),
      from: 'view',
    },
    // By which calls are found that somebody else makes needless.
    subject_id: { type: 'uuid', null: true, hidden: 'of the record that the call is about' },
    why: { type: 'jsonb', shown: T.Array(T.String({ description: 'Why a person is asked.' })) },
    // See `directCaller`.
    direct_by: {
      type: 'text',
      null: true,
      hidden: 'who has called the tool directly, without a model',
    },
    status: { type: 'text', shown: oneOf(approvalStatuses) },
    deciders: {
      shown: nullable(
        record(
          {
            roles: T.Array(oneOf(roles)),
            people: T.Array(NamedAuthorSchema, {
              description: 'At most five members with these roles.',
            }),
            more: T.Boolean({ description: 'There are others.' }),
          },
          { description: 'Who can decide, while it waits.' },
        ),
      ),
      from: 'view',
    },
    may_decide: { shown: T.Boolean({ description: 'Whether you can decide now.' }), from: 'view' },
    decided_how: {
      type: 'text',
      shown: nullable(
        oneOf(['person', 'expiry', 'cancel', 'stale', 'moot'], {
          description:
            'stale: the record changed after it was shown. moot: somebody made the call needless, perhaps by doing what it asks for; nobody refused it.',
        }),
      ),
    },
    decided_by: { type: 'uuid', shown: nullable(Id) },
    decider: {
      type: 'jsonb',
      of: AuthorSchema,
      null: true,
      shown: nullable(NamedAuthorSchema, {
        description: 'Who decided, or made the call needless.',
      }),
    },
    outcome: {
      shown: nullable(
        oneOf(outcomes, {
          description:
            'What became of the call: null while it waits, where it was refused or not decided in time, and once its job is past its retention. running: it was allowed, and its result is not known yet. unknown: it may have happened. stale: the record changed first. moot: somebody made it needless.',
        }),
      ),
      from: 'view',
    },
    error: {
      shown: markUntrustedIf(
        { field: 'job.taint' },
        nullable(T.String({ description: 'Why it failed.' })),
      ),
      from: 'view',
    },
    // Of its step.
    step: {
      of: record({ state: T.String(), error: nullable(T.String()) }),
      null: true,
      hidden: 'shown as outcome',
      from: 'query',
    },
    decider_name: { of: T.String(), null: true, hidden: 'part of decider', from: 'query' },
    reason: { type: 'text', shown: nullable(T.String()) },
    edited: {
      type: 'boolean',
      shown: T.Boolean({ description: 'The person changed the arguments.' }),
    },
    created_at: times.created_at,
    expires_at: { type: 'timestamp with time zone', shown: Time },
    decided_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    updated_at: { type: 'timestamp with time zone', hidden: 'the other times say what changed' },
    told_at: {
      type: 'timestamp with time zone',
      null: true,
      hidden: 'when the channel was told',
      from: 'elsewhere',
      unexported: 'when the channel was told; the message itself is exported',
    },
  },
)
