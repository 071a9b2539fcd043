/** A job of the agent. */
import { Type as T } from '@sinclair/typebox'
import { Id, markUntrustedIf, nullable, oneOf, record, Time } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'
import { OnBehalfSchema } from './on-behalf.ts'

export const jobStatuses = [
  'queued',
  'running',
  'waiting_approval',
  'waiting_child',
  'completed',
  'failed',
  'cancelled',
] as const
export const jobKinds = [
  'turn',
  'task',
  'action',
  'scheduled',
  'webhook',
  'channel',
  'delegate',
] as const

const bound = 'bounds what the job does'
const count = { type: 'integer', shown: T.Integer() } as const

export const jobRecord = declare(
  'agent_job',
  { title: 'AgentJob', case: 'camelCase' },
  {
    id,
    kind: { type: 'text', shown: oneOf(jobKinds), fixed: true },
    status: {
      type: 'text',
      shown: oneOf(jobStatuses, { description: 'completed, failed and cancelled are final.' }),
    },
    error: {
      type: 'text',
      shown: nullable(
        T.String({
          description:
            'Why it failed, such as budget_exhausted:agent_tokens_day. Of a queued job, what it waits for: plan_invalid:billing_suspended, for a week at most.',
        }),
      ),
    },
    goal: {
      type: 'text',
      shown: markUntrustedIf(
        { field: 'taint', begins: 'channel ' },
        T.String({ description: 'What it is asked to do.' }),
      ),
      fixed: true,
    },
    conversation_id: { type: 'uuid', shown: nullable(Id) },
    message_id: { type: 'uuid', shown: nullable(Id) },
    parent_id: { type: 'uuid', shown: nullable(Id) },
    parent_step_id: {
      type: 'uuid',
      null: true,
      hidden: 'the step of the parent that waits for it',
    },
    root_id: { type: 'uuid', hidden: 'the first of its tree', fixed: true },
    depth: { type: 'integer', shown: T.Integer({ description: 'Jobs above it.' }) },
    output: {
      type: 'jsonb',
      shown: markUntrustedIf(
        { field: 'taint' },
        nullable(
          T.Record(T.String(), T.Unknown(), {
            description: 'What a task gives, or the last words of a job without a conversation.',
          }),
        ),
      ),
    },
    origin: {
      type: 'text',
      shown: oneOf(['manual', 'automatic'], { description: 'pause-all holds automatic jobs.' }),
    },
    tools: {
      type: 'jsonb',
      shown: nullable(
        T.Array(T.String(), {
          description: 'The tools that it may use; null: all that its caller may.',
        }),
      ),
      as: 'toolNames',
      fixed: true,
    },
    tier: { type: 'text', shown: oneOf(['fast', 'reasoning']) },
    asked_model: { type: 'text', shown: nullable(T.String()), as: 'requestedModel' },
    model: {
      type: 'text',
      shown: T.String({
        description:
          'The model that runs: one that MODEL_ALLOW does not name is replaced by that of the tier. desk: none is set.',
      }),
    },
    // Never shrinks.
    taint: {
      type: 'jsonb',
      shown: T.Array(T.String(), {
        description:
          'Where untrusted text that it has read came from; or copied deployment, if it began before the deployment was copied or restored, so that the other one may be doing the same.',
      }),
    },
    model_calls: count,
    tool_calls: count,
    input_tokens: count,
    output_tokens: count,
    // Stored in hundredths of a US cent. Excludes what is reserved.
    cost: {
      type: 'integer',
      shown: T.Number({ description: 'All that the budget holds of it, with what is reserved.' }),
      as: 'costUsdCents',
    },
    cost_estimated: { type: 'boolean', shown: T.Boolean(), as: 'costIsEstimated' },
    // For calls of the model that are not settled: those under way, and those that died.
    reserved_tokens: {
      type: 'integer',
      shown: T.Integer({
        description:
          'Set aside for calls of the model that are under way, and kept for those that died.',
      }),
    },
    reserved_cost: { type: 'integer', shown: T.Number(), as: 'reservedCostUsdCents' },
    started_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    ended_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    ...times,
    on_behalf: { type: 'jsonb', of: OnBehalfSchema, hidden: 'in whose name it runs', fixed: true },
    shown: {
      type: 'jsonb',
      of: T.Array(T.String()),
      hidden: 'tools beyond the core whose definitions it has asked for',
      unexported: 'which tools the model was shown whole',
    },
    scheduled: { type: 'boolean', hidden: 'shown as its kind' },
    typed: {
      type: 'boolean',
      hidden:
        'whether it is a command in the words of the command line, which a person has typed: no model answers it',
    },
    // schedule: the time of one has come. webhook_rule: a post came in. channel: a message, by id.
    cause: {
      type: 'jsonb',
      of: record({ kind: oneOf(['schedule', 'webhook_rule', 'channel']), id: T.String() }),
      null: true,
      hidden: 'what began it, if nobody did at that moment',
      fixed: true,
    },
    // How many calls of the model it may make itself. Null: as many as its tree has left.
    most_steps: { type: 'integer', null: true, hidden: bound },
    task: {
      type: 'jsonb',
      null: true,
      hidden: 'what is asked of a task; null of all other kinds',
      fixed: true,
    },
    active_ms: { type: 'integer', hidden: bound },
    invalid_answers: {
      type: 'integer',
      hidden: bound,
      unexported: 'counts towards a bound within the job',
    },
    held_since: {
      type: 'timestamp with time zone',
      null: true,
      hidden: 'since when it waits for billing to be in order; null if it does not',
      unexported: 'while it waits for billing; the reason is its error, which is exported',
    },
    next_step: {
      type: 'integer',
      hidden: 'the number of its next step',
      unexported: 'follows from the steps, which are exported',
    },
    next_event: {
      type: 'integer',
      hidden: 'the number of its next event',
      unexported: 'follows from the events, which are exported',
    },
  },
)
