import { Type as T } from '@sinclair/typebox'
import { nextCursor, shortPage, use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { scheduleRecord, scheduleStatuses } from '../records/agent/schedule.ts'
import {
  cursorLike,
  fieldsBut,
  Id,
  markUntrusted,
  NOT_BLANK,
  nameForModels,
  nullable,
  oneOf,
  record,
  Time,
} from '../shapes.ts'
import { JobSchema } from './jobs.ts'

const Cron = T.String({
  minLength: 1,
  maxLength: 100,
  description: 'Five fields, on the clocks of timeZone; at most every 15 minutes.',
  examples: ['0 9 * * 1'],
})
const TimeZone = T.String({
  format: 'time-zone',
  maxLength: 64,
  description: 'An IANA time zone. Default UTC.',
})
const Tools = T.Array(T.String({ minLength: 1, maxLength: 64, examples: ['growth_list_queue'] }), {
  maxItems: 100,
  description: 'The only tools of its runs. Default: all.',
})
const Goal = T.String({
  minLength: 1,
  maxLength: 10_000,
  pattern: NOT_BLANK,
  examples: ['Draft three posts about what customers asked last week'],
  description: 'What to do then: words, or an exact command such as /batches create.',
})

const Schedule = scheduleRecord.schema

const shape = fieldsBut(Schedule, ['conversationId', 'lastJobId', 'taint', 'updatedAt', 'goal'])

/** A scheduled task as the agent sees it. */
const ScheduledTask = record(
  {
    ...shape,
    goal: nullable(T.String({ description: 'Null where it may follow text of people outside.' })),
    untrustedGoal: markUntrusted(nullable(T.String())),
  },
  { title: 'ScheduledTask' },
)

const OneSchedule = record({ schedule: Schedule })
const editing = { ...use, roles: ['editor', 'approver'] } as const

export const schedules = {
  list: op.query(
    'GET /api/v1/agent/schedules',
    'List schedules: what the agent does at set times. Active ones first, by their next time.',
    {
      input: {
        status: T.Optional(
          oneOf(scheduleStatuses, { description: 'Return only schedules in this state.' }),
        ),
        ...shortPage,
        // A time and an id.
        cursor: cursorLike('MTc2MzcwMDAwMDAwMCAwMThmNDdhMC0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDA='),
      },
      output: record({ schedules: T.Array(Schedule), ...nextCursor }),
    },
    use,
  ),
  get: op.query(
    'GET /api/v1/agent/schedules/:id',
    'Get a schedule.',
    { input: { id: Id }, output: OneSchedule },
    { ...use, errors: ['not_found'] },
  ),
  update: op.command(
    'PATCH /api/v1/agent/schedules/:id',
    'Change a schedule, or pause or activate it. Omitted fields keep their value. With another goal or other tools it runs in your name from then on, and so it does if you activate one whose maker has left. Its goal stays the words of whoever wrote it: while they may do less than you, its runs ask before they change anything. Send the goal, too, to make the words yours. At most 50 are active.',
    {
      input: {
        id: Id,
        goal: T.Optional(Goal),
        at: T.Optional({ ...Time, description: 'Run once, at this time.' }),
        cron: T.Optional(Cron),
        timeZone: T.Optional(TimeZone),
        tools: T.Optional(Tools),
        status: T.Optional(oneOf(['active', 'paused'])),
      },
      output: OneSchedule,
    },
    { ...editing, errors: ['not_found', 'conflict'], repeatable: true },
  ),
  remove: op.command(
    'DELETE /api/v1/agent/schedules/:id',
    'Delete a schedule. Runs that have begun go on, and its conversation stays.',
    { input: { id: Id }, output: OneSchedule },
    { ...editing, errors: ['not_found'], destructive: true },
  ),
  run: op.command(
    'POST /api/v1/agent/schedules/:id/run',
    'Run a schedule now, in the name of whoever made it. Its next time stays. Refused while automation is paused.',
    { input: { id: Id }, output: record({ schedule: Schedule, job: JobSchema }) },
    { ...editing, status: 201, errors: ['not_found', 'conflict', 'plan_invalid'] },
  ),
}

export const scheduleCapabilities = {
  schedule_task: op.command(
    'POST /api/v1/actions/schedule_task',
    'Schedule a follow-up: at a time, or by a cron pattern for recurrence. What a run wants to publish waits for a person.',
    {
      input: {
        goal: Goal,
        at: T.Optional({
          ...Time,
          description: 'When to run once.',
          examples: ['2027-01-11T09:00:00Z'],
        }),
        cron: T.Optional(Cron),
        timeZone: T.Optional(TimeZone),
        tools: T.Optional(Tools),
      },
      output: nameForModels(
        'task',
        record({
          id: Id,
          nextRuns: T.Array(Time, { description: 'The next three times at most.' }),
          warning: nullable(T.String({ description: 'Why its runs will fail as things are.' })),
        }),
      ),
    },
    { ...editing, tool: 'schedule_task', agent: 'draft', errors: ['conflict'] },
  ),
  list_scheduled_tasks: op.query(
    'GET /api/v1/actions/list_scheduled_tasks',
    'List scheduled tasks, active ones first, ordered by next run time.',
    {
      input: shortPage,
      output: record({ tasks: T.Array(ScheduledTask), ...nextCursor }),
    },
    { ...use, tool: 'list_scheduled_tasks', agent: 'read', foreign: true },
  ),
  cancel_scheduled_task: op.command(
    'POST /api/v1/actions/cancel_scheduled_task',
    'Cancel a scheduled task.',
    {
      input: { id: Id },
      output: nameForModels('task', record({ id: Id, status: oneOf(scheduleStatuses) })),
    },
    {
      ...editing,
      tool: 'cancel_scheduled_task',
      agent: 'draft',
      errors: ['not_found'],
      repeatable: true,
    },
  ),
}
