/** Reading one item. */

import { op } from '../op.ts'
import { ItemSchema } from '../records/growth/item.ts'
import { Id, record } from '../shapes.ts'
import { way } from '../way.ts'

const ItemWithWay = record({ ...ItemSchema.properties, ...way }, { title: 'ItemWithWay' })

export const itemReading = {
  get: op.query(
    'GET /api/v1/growth/items/:id',
    'Read one item, with its whole way: the versions of its text, what was decided of it, and each try to post it, with what the timeline showed while it was in doubt.',
    { input: { id: Id }, output: record({ item: ItemWithWay }) },
    { errors: ['not_found'] },
  ),
}
