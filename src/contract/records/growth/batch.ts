/** A request for posts, and what came of it. */
import { Type as T } from '@sinclair/typebox'
import { Id, nullable, record } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'
import { generationError, generationStatus, writtenBy } from './generation.ts'

export const batchRecord = declare(
  'batch',
  { title: 'Batch' },
  {
    id,
    status: generationStatus,
    error: generationError,
    focus: { type: 'text', shown: T.String(), fixed: true },
    // The experiment among whose arms the posts are divided.
    experiment_id: { type: 'uuid', shown: nullable(Id), fixed: true },
    rule_id: {
      type: 'uuid',
      shown: nullable({ ...Id, description: 'The rule that requested it, if one did.' }),
      fixed: true,
    },
    requested: {
      type: 'integer',
      shown: T.Integer({ description: 'How many posts you requested.' }),
      fixed: true,
    },
    delivered: {
      type: 'integer',
      shown: T.Integer({ description: 'How many were drafted. The rest return to the quota.' }),
    },
    shortfall: {
      type: 'text',
      shown: nullable(
        T.String({
          description:
            'Set when ready with fewer posts than requested: how many of how many, and why, such as cancelled or generation_failed: <hint>.',
          examples: ['2 of 5 drafted: generation_failed: ask for fewer posts'],
        }),
      ),
    },
    ...writtenBy,
    progress: {
      shown: nullable(
        record(
          { done: T.Integer(), of: T.Integer() },
          { description: 'Posts drafted so far; null once it has settled.' },
        ),
      ),
      from: 'view',
    },
    ...times,
  },
)
