import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { OneEngagement } from '../records/growth/engagement.ts'
import { signalRecord, signalStatuses } from '../records/growth/signal.ts'
import { cursorLike, Id, NextCursor, oneOf, page, record, Time } from '../shapes.ts'
import { wish } from './engagements.ts'

const Signal = signalRecord.schema

export const signals = {
  list: op.query(
    'GET /api/v1/growth/signals',
    'List open signals, best first: posts that may deserve a response, by watched targets, or by anybody who mentions, answers or quotes one of your accounts. Each shows why, and which actions the network allows. Signals expire 48 hours after the post.',
    {
      input: {
        status: T.Optional(
          oneOf(signalStatuses, { default: 'open', description: 'Default open.' }),
        ),
        target_id: T.Optional(
          T.String({ format: 'uuid', description: 'Return only signals of this target.' }),
        ),
        from: T.Optional({ ...Time, description: 'Only of posts since then.' }),
        to: T.Optional({ ...Time, description: 'Only of posts before then.' }),
        ...page,
        cursor: cursorLike('NTAgMDE4ZjQ3YTAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDAw'),
      },
      output: record({ signals: T.Array(Signal), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_signals', agent: 'read', foreign: true },
  ),
  get: op.query(
    'GET /api/v1/growth/signals/:id',
    'Read one signal, in any state. Signals that closed are deleted after 30 days.',
    { input: { id: Id }, output: record({ signal: Signal }) },
    { errors: ['not_found'] },
  ),
  dismiss: op.command(
    'POST /api/v1/growth/signals/:id/dismiss',
    'Dismiss a signal. The post does not appear again.',
    { input: { id: Id }, output: record({ signal: Signal }) },
    {
      tool: 'growth_dismiss_signal',
      agent: 'draft',
      foreign: true,
      errors: ['not_found', 'conflict'],
      roles: ['editor'],
    },
  ),
  engage: op.command(
    'POST /api/v1/growth/signals/:id/engage',
    'Draft an engagement from a signal: a reply or quote without a body is drafted from the profile. Does not read the post again. If drafting fails, the signal reopens. 409 with the reason and a link if the network does not allow the action.',
    { input: { id: Id, ...wish }, output: OneEngagement },
    {
      tool: 'growth_engage_signal',
      agent: 'draft',
      foreign: true,
      status: 201,
      errors: ['not_found', 'conflict'],
      roles: ['editor'],
      feature: 'engagement',
      cap: 'create_engagement',
      settles: 'growth.engagements.list',
    },
  ),
}
