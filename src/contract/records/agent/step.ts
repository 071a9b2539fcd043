/** A step of a job: one call of the model, or one call of a tool. */
import { Type as T } from '@sinclair/typebox'
import { markUntrustedIf, nullable, oneOf, record, Time } from '../../shapes.ts'
import { id } from '../fields.ts'
import { declare } from '../record.ts'

export const stepStates = [
  'ready',
  'asked',
  'running',
  'waiting',
  'done',
  'failed',
  'rejected',
  'unknown',
  'cancelled',
] as const

const own = 'of use to the service alone'
const tokens = { type: 'integer', shown: nullable(T.Integer()) } as const

export const stepRecord = declare(
  'agent_step',
  { title: 'AgentStep', case: 'camelCase' },
  {
    id,
    job_id: { type: 'uuid', hidden: 'shown with its job', fixed: true },
    number: { type: 'integer', shown: T.Integer(), fixed: true },
    kind: { type: 'text', shown: oneOf(['model', 'tool', 'summary']), fixed: true },
    name: { type: 'text', shown: T.String({ description: 'The tool, or the model.' }) },
    state: {
      type: 'text',
      shown: oneOf(stepStates, {
        description: 'unknown: it may have happened, and is never repeated.',
      }),
    },
    call: {
      type: 'text',
      null: true,
      hidden: own,
      unexported: 'what the call was called in the transcript',
    },
    asked: { type: 'text', null: true, hidden: 'the arguments as the model wrote them' },
    args: {
      type: 'jsonb',
      of: T.Record(T.String(), T.Unknown()),
      null: true,
      shown: markUntrustedIf({ field: 'job.taint' }, T.Unknown()),
      as: 'arguments',
    },
    args_hash: {
      type: 'text',
      null: true,
      hidden: own,
      unexported: 'follows from the arguments, which are exported',
    },
    class: {
      type: 'text',
      of: oneOf(['read', 'draft', 'commit', 'safe', 'outside_read', 'outside_write']),
      null: true,
      hidden: 'what the tool may do without asking',
    },
    why: { type: 'jsonb', shown: T.Array(T.String()) },
    // What the model sees.
    result: { type: 'jsonb', null: true, hidden: 'shown is the beginning of it' },
    result_hash: {
      type: 'text',
      null: true,
      hidden: own,
      from: 'elsewhere',
      unexported: 'follows from the result, which is exported',
    },
    shown: {
      shown: markUntrustedIf(
        { field: 'untrusted' },
        nullable(T.String({ description: 'At most 4,000 characters.' })),
      ),
      as: 'result',
      from: 'query',
    },
    result_cut: { type: 'boolean', shown: T.Boolean(), as: 'resultIsCut' },
    untrusted: {
      type: 'text',
      shown: nullable(
        T.String({ description: 'Who outside the workspace wrote some of the result.' }),
      ),
    },
    error: { type: 'text', shown: markUntrustedIf({ field: 'untrusted' }, nullable(T.String())) },
    answer: { type: 'jsonb', null: true, hidden: 'that of a model; its text is shown as result' },
    awaits_kind: {
      type: 'text',
      of: oneOf(['generation', 'publish', 'child']),
      null: true,
      hidden: own,
    },
    awaits: { type: 'uuid', null: true, hidden: own },
    of_step: { type: 'integer', null: true, hidden: own, fixed: true },
    input_tokens: tokens,
    cached_tokens: { type: 'integer', null: true, hidden: 'part of the input' },
    output_tokens: tokens,
    cost: { type: 'integer', null: true, hidden: 'shown with its job' },
    reserved_tokens: {
      type: 'integer',
      hidden: own,
      unexported: 'kept while a model is asked; what it used is exported',
    },
    reserved_cost: {
      type: 'integer',
      hidden: own,
      unexported: 'kept while a model is asked; what it cost is exported',
    },
    day: { type: 'text', null: true, hidden: own, unexported: 'the period of a reservation' },
    month: { type: 'text', null: true, hidden: own, unexported: 'the period of a reservation' },
    // How many tries failed.
    attempt: { type: 'integer', shown: T.Integer() },
    // The tries before the one that the step shows, oldest first. Times are in ISO 8601.
    tries: {
      type: 'jsonb',
      of: T.Array(record({ started_at: T.String(), ended_at: T.String(), error: T.String() })),
      hidden: 'shown as spans of the job',
    },
    not_before: {
      type: 'timestamp with time zone',
      null: true,
      hidden: own,
      unexported: 'when it would be tried again',
    },
    started_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    ended_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    created_at: { type: 'timestamp with time zone', hidden: own, fixed: true },
    updated_at: { type: 'timestamp with time zone', hidden: own },
  },
)
