/** Reading one item. */

import { Item } from '../item-record.ts'
import { op } from '../op.ts'
import { Id, record } from '../shapes.ts'

export const itemReading = {
  get: op.query(
    'GET /api/v1/growth/items/:id',
    'Read one item.',
    { input: { id: Id }, output: record({ item: Item }) },
    { errors: ['not_found'] },
  ),
}
