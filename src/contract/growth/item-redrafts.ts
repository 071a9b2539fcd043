/** Having a drafter write an item anew. */
import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { ItemSchema } from '../records/growth/item.ts'
import { Id, NOT_BLANK, record } from '../shapes.ts'

export const itemRedrafts = {
  redraft: op.command(
    'POST /api/v1/growth/items/:id/redraft',
    'Have a drafted item written again, from its text and a hint. Uses one post of the monthly quota, returned if that fails. Read the item until redraft is null, or failed: last_error then says why. If somebody changes or decides the item meanwhile, the new text is dropped and the quota returned.',
    {
      input: {
        id: Id,
        hint: T.String({
          minLength: 1,
          maxLength: 2_000,
          pattern: NOT_BLANK,
          description: 'What to change.',
          examples: ['shorter, and end on the number'],
        }),
      },
      output: record({ item: ItemSchema }),
    },
    {
      status: 201,
      quota: 'posts',
      cap: 'redraft',
      errors: ['not_found', 'conflict'],
      roles: ['editor', 'approver'],
    },
  ),
}
