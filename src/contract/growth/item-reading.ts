/** Reading one item. */

import { op } from '../op.ts'
import { ItemSchema } from '../records/growth/item.ts'
import { LookSchema, lookingAtAccount } from '../records/growth/look.ts'
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
  look: op.prepared(
    'POST /api/v1/growth/items/:id/look',
    'Read the account now for an item that may have gone out elsewhere. It must have restored_as_of; the answer is what stands there since then. ' +
      'Takes what it reads from the daily budget. Decides nothing and sends nothing: say with posted, post-now, schedule or reopen what happened. One read of a workspace at a time.',
    { input: { id: Id }, output: record({ look: LookSchema }) },
    lookingAtAccount,
  ),
}
