/** Taking an item back, deleting it and restoring it. */

import { op } from '../op.ts'
import { ItemSchema } from '../records/growth/item.ts'
import { Id, record } from '../shapes.ts'

const OneItem = record({ item: ItemSchema })
const onItem = ['not_found', 'conflict'] as const
const roles = ['editor', 'approver'] as const

export const itemLife = {
  reopen: op.command(
    'POST /api/v1/growth/items/:id/reopen',
    'Make a draft of an item again: an approved, scheduled or rejected one, or one that the network refused. One that is about to be posted is taken back; 409 with the detail in_flight if it is too late for that. Its time becomes its proposed_at; the comment with the reason of a rejection is withdrawn. A draft is returned as it is.',
    { input: { id: Id }, output: OneItem },
    {
      tool: 'growth_reopen_item',
      toolset: 'content',
      agent: 'draft',
      foreign: true,
      errors: onItem,
      roles,
      recalls: true,
      repeatable: true,
    },
  ),
  remove: op.command(
    'DELETE /api/v1/growth/items/:id',
    'Delete an item that never reached the network. Restore it within 30 days; then it is erased, and the audit log keeps what was done. One that is scheduled or about to be posted is taken back.',
    { input: { id: Id }, output: OneItem },
    { errors: onItem, roles, recalls: true, destructive: true },
  ),
  restore: op.command(
    'POST /api/v1/growth/items/:id/restore',
    'Restore a deleted item. It is a draft if it was approved; otherwise it is in the state in which it was deleted.',
    { input: { id: Id }, output: OneItem },
    { errors: ['not_found'], roles, repeatable: true },
  ),
}
