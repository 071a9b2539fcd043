import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, NextCursor, NOT_BLANK, nullable, oneOf, page, record, Time, untrustedName } from '../shapes.ts'

const statuses = ['active', 'paused'] as const
const priority = T.Integer({ minimum: 1, maximum: 3, description: '1 is read hourly, 2 every four hours, 3 daily.' })
const category = T.String({ minLength: 1, maxLength: 80, pattern: NOT_BLANK, examples: ['peer'] })

const Target = record(
  {
    id: Id,
    handle: untrustedName(T.String()),
    category: nullable(T.String()),
    priority,
    status: oneOf(statuses),
    last_read_at: nullable(Time),
    next_read_at: nullable({
      ...Time,
      description: 'Null while no read is planned: the target is paused, no account is connected, or the plan does not allow it.',
    }),
    last_error: nullable(
      T.String({ description: 'Why the last read failed: unknown_handle, x_not_connected, x_read_budget_exhausted, …' }),
    ),
    reads: T.Integer({ description: 'Resources read from the network for this target.' }),
    reads_micros: T.Integer({ description: 'The cost of those reads, in millionths of a US dollar.' }),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Target' },
)

const OneTarget = record({ target: Target })

export const targets = {
  list: op.query(
    'GET /api/v1/growth/targets',
    'List targets, newest first. Shows the last read of each, and what reads cost.',
    {
      input: { status: T.Optional(oneOf(statuses, { description: 'Return only targets in this state.' })), ...page },
      output: record({ targets: T.Array(Target), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_targets', agent: 'read', foreign: true },
  ),
  get: op.query('GET /api/v1/growth/targets/:id', 'Read one target.', { input: { id: Id }, output: OneTarget }, { errors: ['not_found'] }),
  create: op.command(
    'POST /api/v1/growth/targets',
    'Watch an account on the network. Its new posts become signals. Reads spend the daily read budget. At most 200 targets.',
    {
      input: {
        handle: T.String({ minLength: 1, maxLength: 60, description: 'With or without @.', examples: ['ships_on_tuesday'] }),
        category: T.Optional(category),
        priority: T.Optional({ ...priority, default: 2 }),
      },
      output: OneTarget,
    },
    {
      tool: 'growth_add_target',
      agent: 'draft',
      foreign: true,
      status: 201,
      errors: ['conflict'],
      roles: ['editor'],
      feature: 'engagement',
    },
  ),
  update: op.command(
    'PUT /api/v1/growth/targets/:id',
    'Update a target: watch or pause it, change its priority or category.',
    {
      input: {
        id: Id,
        status: T.Optional(oneOf(statuses)),
        priority: T.Optional(priority),
        category: T.Optional(nullable(category)),
      },
      output: OneTarget,
    },
    {
      tool: 'growth_update_target',
      agent: 'draft',
      foreign: true,
      errors: ['not_found'],
      roles: ['editor'],
      repeatable: true,
      feature: 'engagement',
    },
  ),
  remove: op.command(
    'DELETE /api/v1/growth/targets/:id',
    'Delete a target. It is not read again; its signals stay until they are answered, dismissed or expire.',
    { input: { id: Id }, output: OneTarget },
    { errors: ['not_found'], roles: ['editor'], destructive: true },
  ),
}
