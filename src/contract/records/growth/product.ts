/** What drafts may mention, in the words of the workspace. */
import { Type as T } from '@sinclair/typebox'
import { nullable, oneOf } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'

export const productStatuses = ['active', 'archived'] as const

export const productRecord = declare(
  'product',
  { title: 'Product' },
  {
    id,
    name: { type: 'text', shown: T.String() },
    one_liner: { type: 'text', shown: T.String() },
    url: { type: 'text', shown: nullable(T.String()) },
    status: {
      type: 'text',
      shown: oneOf(productStatuses, {
        description: 'active: drafts may mention it. archived: no draft does.',
      }),
    },
    ...times,
  },
)
