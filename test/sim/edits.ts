/** Changes of an item that no command makes. */
import { count, itemOf, type World } from './world.ts'

interface Edit {
  item: string
  body?: string
  account_external_id?: string
  status?: 'rejected'
}

/** Somebody writes into the database, past every command; not while the item is being sent. */
export const edit = (world: World, { item, body, account_external_id, status }: Edit): void => {
  const before = itemOf(world, item)
  const isSending = [...world.memory.works.values()].some(
    ({ ref_id, state }) => ref_id === item && state === 'running',
  )
  const editable = [
    'approved',
    'publishing',
    'publish_failed',
    ...(body ? ['publish_unconfirmed'] : []),
  ]
  if (isSending || !editable.includes(before.status)) return
  if (before.status === 'publish_unconfirmed') count(world, 'edited while in doubt')
  count(world, 'done edit')
  world.edited.add(item)
  if (status) world.approvals.delete(item)
  const changes = {
    ...(body && { body }),
    ...(account_external_id && { account_external_id }),
    ...(status && { status, post_at: null }),
  }
  world.memory.items.set(item, { ...before, ...changes })
}

export const edits = [
  { body: 'Nobody approved this.' },
  { body: 'Nobody approved this.' },
  { account_external_id: 'two' },
  { status: 'rejected' as const },
]
