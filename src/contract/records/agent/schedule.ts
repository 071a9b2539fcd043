/** A goal that the agent works on by itself, once or by a cron pattern. */
import { Type as T } from '@sinclair/typebox'
import { Id, nullable, oneOf, Time } from '../../shapes.ts'
import { declare } from '../record.ts'
import { OnBehalfSchema } from './on-behalf.ts'

export const scheduleStatuses = ['active', 'paused', 'cancelled', 'done'] as const

export const scheduleRecord = declare(
  'agent_schedule',
  { title: 'Schedule', case: 'camelCase' },
  {
    id: { type: 'uuid', shown: Id, fixed: true },
    at: {
      type: 'timestamp with time zone',
      shown: nullable({ ...Time, description: 'When it runs once.' }),
    },
    // Five fields, in local time of the time zone.
    pattern: {
      type: 'text',
      shown: nullable(T.String({ description: 'When it runs again and again.' })),
      as: 'cron',
    },
    time_zone: { type: 'text', shown: T.String() },
    // The tools that its runs may use. Null: those of its caller.
    tools: { type: 'jsonb', shown: nullable(T.Array(T.String())) },
    status: {
      type: 'text',
      shown: oneOf(scheduleStatuses, { description: 'Only active schedules run.' }),
    },
    paused_by: {
      type: 'text',
      shown: nullable(
        oneOf(['person', 'failures', 'caller_gone'], {
          description:
            'failures: its last three runs failed. caller_gone: whoever made it has left the workspace; activate it to run it in your name.',
        }),
      ),
    },
    // Set while it is active.
    next_at: { type: 'timestamp with time zone', shown: nullable(Time), as: 'nextRunAt' },
    last_at: { type: 'timestamp with time zone', shown: nullable(Time), as: 'lastRunAt' },
    missed: {
      type: 'integer',
      shown: T.Integer({
        description:
          'Times that passed without a run, because they were noticed more than an hour late.',
      }),
      as: 'missedRuns',
    },
    failures: { type: 'integer', shown: T.Integer({ description: 'Failed runs in a row.' }) },
    created_at: { type: 'timestamp with time zone', shown: Time, fixed: true },
    goal: { type: 'text', shown: T.String() },
    // Null before the first run.
    conversation_id: {
      type: 'uuid',
      shown: nullable(T.String({ format: 'uuid', description: 'Where its runs answer.' })),
    },
    last_job_id: { type: 'uuid', shown: nullable(Id) },
    // The taint that its runs begin with.
    taint: {
      type: 'jsonb',
      shown: T.Array(T.String(), {
        description: 'Where untrusted text came from that the goal may follow.',
      }),
    },
    on_behalf: { type: 'jsonb', of: OnBehalfSchema, hidden: 'in whose name it runs' },
    goal_by: {
      type: 'jsonb',
      of: OnBehalfSchema,
      null: true,
      hidden: 'who wrote its goal; null: whoever it runs for',
    },
    updated_at: { type: 'timestamp with time zone', shown: Time },
  },
)
