import { Type as T } from '@sinclair/typebox'
import { everybody, followed, following, nextCursor, shortPage, use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { messageRecord } from '../records/agent/conversation.ts'
import { jobKinds, jobRecord, jobStatuses } from '../records/agent/job.ts'
import { stepRecord } from '../records/agent/step.ts'
import { Id, nullable, oneOf, record, Time } from '../shapes.ts'
import { InFlight } from '../shared-records.ts'
import { ApprovalSchema } from './approvals.ts'

export const JobSchema = jobRecord.schema

const Span = record(
  {
    traceId: T.String(),
    spanId: T.String(),
    parentSpanId: nullable(T.String()),
    name: T.String(),
    kind: oneOf(['internal', 'client']),
    startTime: Time,
    endTime: nullable(Time),
    durationMs: nullable(T.Integer()),
    status: oneOf(['unset', 'ok', 'error']),
    attributes: T.Record(T.String(), T.Unknown()),
  },
  { title: 'AgentSpan', description: 'By the GenAI conventions of OpenTelemetry.' },
)

const AgentEvent = record(
  { seq: T.Integer(), at: Time, type: T.String(), data: T.Record(T.String(), T.Unknown()) },
  { title: 'AgentEvent' },
)

export const jobs = {
  list: op.query(
    'GET /api/v1/agent/jobs',
    'List jobs of the agent, newest first. Filter by status, kind or conversation.',
    {
      input: {
        status: T.Optional(oneOf(jobStatuses, { description: 'Return only jobs in this state.' })),
        kind: T.Optional(oneOf(jobKinds, { description: 'Return only jobs of this kind.' })),
        conversationId: T.Optional(Id),
        ...shortPage,
      },
      output: record({ jobs: T.Array(JobSchema), ...nextCursor }),
    },
    use,
  ),
  get: op.query(
    'GET /api/v1/agent/jobs/:id',
    'Get a job of the agent with its steps, approvals and, once it is over, its answer.',
    {
      input: { id: Id },
      output: record({
        job: JobSchema,
        answer: nullable(messageRecord.schema),
        steps: T.Array(stepRecord.schema),
        approvals: T.Array(ApprovalSchema),
        children: T.Array(JobSchema),
      }),
    },
    {
      ...use,
      tool: 'agent_get_job',
      agent: 'never',
      foreign: true,
      anyId: true,
      errors: ['not_found'],
    },
  ),
  trace: op.query(
    'GET /api/v1/agent/jobs/:id/trace',
    'Get the spans of a job: its model calls, tools and waits.',
    { input: { id: Id }, output: record({ job: JobSchema, spans: T.Array(Span) }) },
    { ...use, anyId: true, errors: ['not_found'], failure: 'trace query failed' },
  ),
  events: op.query(
    'GET /api/v1/agent/jobs/:id/events',
    'Get what happened in a job since an event. As text/event-stream, the same as it happens, with the text of the model as it arrives.',
    {
      input: following,
      output: record({ events: T.Array(AgentEvent), ...followed, done: T.Boolean() }),
    },
    { ...use, stream: 'events', errors: ['not_found'] },
  ),
  cancel: op.command(
    'POST /api/v1/agent/jobs/:id/cancel',
    'Cancel a job and its child jobs. What has been sent stays sent; calls outside that are on their way are listed in in_flight, and take their outcome.',
    { input: { id: Id }, output: record({ job: JobSchema, in_flight: InFlight }) },
    {
      ...use,
      ...everybody,
      tool: 'agent_cancel_job',
      agent: 'never',
      foreign: true,
      anyId: true,
      errors: ['not_found'],
      urgent: true,
      repeatable: true,
      whileDeleting: true,
    },
  ),
}
