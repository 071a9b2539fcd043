/** A request for a long text, which becomes one item. */
import { Type as T } from '@sinclair/typebox'
import { Id, nullable, oneOf } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'
import { generationError, generationStatus, writtenBy } from './generation.ts'

export const articleLengths = ['short', 'medium', 'long'] as const

export const articleRecord = declare(
  'article',
  { title: 'Article' },
  {
    id,
    status: generationStatus,
    error: generationError,
    topic: { type: 'text', shown: T.String(), fixed: true },
    length: { type: 'text', shown: oneOf(articleLengths), fixed: true },
    // The points in order, one on each line.
    outline: { type: 'text', shown: nullable(T.String()), fixed: true },
    rule_id: {
      type: 'uuid',
      shown: nullable({ ...Id, description: 'The rule that requested it, if one did.' }),
      fixed: true,
    },
    title: {
      type: 'text',
      shown: nullable(
        T.String({
          description: 'The published title, set once ready. You can change it on approval.',
        }),
      ),
    },
    item_id: {
      type: 'uuid',
      shown: nullable(
        T.String({ format: 'uuid', description: 'The item to approve, set once ready.' }),
      ),
    },
    ...writtenBy,
    ...times,
  },
)
