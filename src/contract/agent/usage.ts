import { Type as T } from '@sinclair/typebox'
import { use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { nullable, record } from '../shapes.ts'

const amounts = {
  tokens_day: T.Integer(),
  tokens_month: T.Integer(),
  cost_usd_cents_month: T.Integer(),
}
const left = nullable(T.Integer({ description: 'null: no limit.' }))

export const usage = {
  get: op.query(
    'GET /api/v1/agent/usage',
    'What the agent may use and has used: tokens, money and calls of tools.',
    {
      input: {},
      output: record(
        {
          limits: record({ ...amounts, tool_calls_hour: T.Integer(), max_steps: T.Integer() }),
          usage: record(amounts),
          remaining: record({ tokens_day: left, tokens_month: left, cost_usd_cents_month: left }),
          tools_hour: T.Array(record({ tool: T.String(), calls: T.Integer(), limit: T.Integer() })),
          cost_is_estimated: T.Boolean(),
        },
        { title: 'AgentUsage' },
      ),
    },
    use,
  ),
}
