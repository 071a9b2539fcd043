/** An account whose posts are watched. */
import { Type as T } from '@sinclair/typebox'
import { nullable, oneOf, Time, untrustedName } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'

export const targetStatuses = ['active', 'paused'] as const
export const PrioritySchema = T.Integer({
  minimum: 1,
  maximum: 3,
  description: '1 is read hourly, 2 every four hours, 3 daily.',
})

export const targetRecord = declare(
  'target',
  { title: 'Target' },
  {
    id,
    // In lower case, without `@`.
    handle: { type: 'text', shown: untrustedName(T.String()), fixed: true },
    category: { type: 'text', shown: nullable(T.String()) },
    priority: { type: 'integer', shown: PrioritySchema },
    status: { type: 'text', shown: oneOf(targetStatuses) },
    last_read_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    next_read_at: {
      shown: nullable({
        ...Time,
        description:
          'Null while no read is planned: the target is paused, no account is connected, or the plan does not allow it.',
      }),
      from: 'view',
    },
    failures: { type: 'integer', hidden: 'failed reads in a row, by which the next one is later' },
    last_error: {
      type: 'text',
      shown: nullable(
        T.String({
          description:
            'Why the last read failed: unknown_handle, x_not_connected, x_read_budget_exhausted, …',
        }),
      ),
    },
    reads: {
      type: 'integer',
      shown: T.Integer({ description: 'Resources read from the network for this target.' }),
    },
    // 0 on a free tier.
    reads_micros: {
      type: 'bigint',
      shown: T.Integer({ description: 'The cost of those reads, in millionths of a US dollar.' }),
    },
    ...times,
  },
)
