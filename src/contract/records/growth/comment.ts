/** What a team says about an item before it approves it. */
import { Type as T } from '@sinclair/typebox'
import { AuthorSchema, Id, NamedAuthorSchema, oneOf } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'

export const commentRecord = declare(
  'comment',
  { title: 'Comment' },
  {
    id,
    item_id: { type: 'uuid', shown: Id, fixed: true },
    kind: {
      type: 'text',
      shown: oneOf(['comment', 'rejection'], {
        description: 'rejection: the reason for which the item was rejected.',
      }),
      fixed: true,
    },
    body: { type: 'text', shown: T.String(), fixed: true },
    written_by: { type: 'jsonb', of: AuthorSchema, shown: NamedAuthorSchema, fixed: true },
    created_at: times.created_at,
  },
)
