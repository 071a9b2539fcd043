import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { PrioritySchema, targetRecord, targetStatuses } from '../records/growth/target.ts'
import { Id, NextCursor, NOT_BLANK, nullable, oneOf, page, record } from '../shapes.ts'

const category = T.String({ minLength: 1, maxLength: 80, pattern: NOT_BLANK, examples: ['peer'] })

const Target = targetRecord.schema

const OneTarget = record({ target: Target })

export const targets = {
  list: op.query(
    'GET /api/v1/growth/targets',
    'List targets, newest first. Shows the last read of each, and what reads cost.',
    {
      input: {
        status: T.Optional(
          oneOf(targetStatuses, { description: 'Return only targets in this state.' }),
        ),
        ...page,
      },
      output: record({ targets: T.Array(Target), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_targets', agent: 'read', foreign: true },
  ),
  get: op.query(
    'GET /api/v1/growth/targets/:id',
    'Read one target.',
    { input: { id: Id }, output: OneTarget },
    { errors: ['not_found'] },
  ),
  create: op.command(
    'POST /api/v1/growth/targets',
    'Watch an account on the network. Its new posts become signals. Reads spend the daily read budget. At most 200 targets.',
    {
      input: {
        handle: T.String({
          minLength: 1,
          maxLength: 60,
          description: 'With or without @.',
          examples: ['ships_on_tuesday'],
        }),
        category: T.Optional(category),
        priority: T.Optional({ ...PrioritySchema, default: 2 }),
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
        status: T.Optional(oneOf(targetStatuses)),
        priority: T.Optional(PrioritySchema),
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
