import { Type as T } from '@sinclair/typebox'
import { use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { Id, oneOf, record, Time } from '../shapes.ts'

const windows = ['7d', '30d'] as const

/** How many approvals the answer shows. The list of approvals has the others. */
export const MOST_SHOWN_PENDING = 10

const ended = { completed: T.Integer(), failed: T.Integer() }
const calls = T.Integer()
const Pending = record({
  id: Id,
  job_id: Id,
  tool_name: T.String(),
  goal: T.String(),
  created_at: Time,
})

export const analytics = {
  get: op.query(
    'GET /api/v1/agent/analytics',
    "What the agent has done and cost within the last 7 or 30 days. Today is included, and days are those of the profile's time zone.",
    {
      input: { window: T.Optional(oneOf(windows, { default: '7d', description: 'Default 7d.' })) },
      output: record(
        {
          window: oneOf(windows),
          generated_at: Time,
          tasks: record({
            ...ended,
            cancelled: T.Integer(),
            running: T.Integer({
              description: 'Jobs that are not over now, waiting ones included.',
            }),
            by_day: T.Array(
              record({ date: T.String({ description: 'Such as 2026-11-16.' }), ...ended }),
            ),
          }),
          actions: record({
            total: T.Integer({
              description: 'Calls of tools that were made. Refused calls do not count.',
            }),
            by_tool: T.Array(record({ tool: T.String(), module: T.String(), calls })),
            by_module: T.Array(record({ module: T.String(), calls })),
          }),
          cost: record({
            usd_cents: T.Integer({
              description:
                'Of the jobs that ended within the window, and of those that are not over.',
            }),
            input_tokens: T.Integer({
              description: 'With what is reserved for calls of models that died.',
            }),
            output_tokens: T.Integer(),
            is_estimated: T.Literal(true),
          }),
          approvals: record({
            pending: T.Integer(),
            items: T.Array(Pending, { maxItems: MOST_SHOWN_PENDING, description: 'The newest.' }),
          }),
        },
        { title: 'AgentAnalytics' },
      ),
    },
    use,
  ),
}
