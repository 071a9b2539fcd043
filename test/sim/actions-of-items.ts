/** What a person may do with an item. */
import { requestAgain } from '#domain/growth/drafting/item-moves'
import { itemHandlers } from '#ops/growth/items'
import { lockItem } from '#store/growth/items'
import { MINUTE } from '#test/domain/records'
import { type Action, action, onItem, takingBack, withdrawal } from './action.ts'
import { edit, edits } from './edits.ts'
import { among, type Next } from './history.ts'
import { ask, handled } from './nodes.ts'
import { rewritings } from './taking-back.ts'
import { bodies } from './texts.ts'
import { itemIds, nowOf, type World } from './world.ts'

export const approve = (
  world: World,
  { item, body }: { item: string; body?: string | undefined },
): void =>
  ask(world, { name: 'approve', id: item }, (context) =>
    handled(
      itemHandlers.approve,
      { id: item, ...(body === undefined ? {} : { edited_body: body }) },
      context,
    ),
  )

interface Scheduled {
  item: string
  inMs: number
  onMissed: 'post' | 'skip'
}

export const schedule = (world: World, { item, inMs, onMissed }: Scheduled): void => {
  const input = {
    id: item,
    post_at: new Date(nowOf(world) + inMs).toISOString(),
    on_missed: onMissed,
  }
  ask(world, { name: 'schedule', id: item }, (context) =>
    handled(itemHandlers.schedule, input, context),
  )
}

const rewrite = (
  world: World,
  { item, ...change }: { item: string; body?: string; account?: string | null },
): void =>
  takingBack(world, { name: 'rewrite', item }, (context) =>
    handled(itemHandlers.edit, { id: item, ...change }, context),
  )

export const DUE_IN = [-30_000, 0, 3_000, 10 * MINUTE]
export const policy = (next: Next) => among(['post', 'skip'] as const, next)

export const itemActions: Record<string, Action> = {
  approve: action(
    5,
    (next) => ({
      item: among(itemIds, next),
      ...(next() < 0.3 ? { body: among(bodies, next) } : {}),
    }),
    approve,
  ),
  post: onItem(5, 'post', (id, context) => handled(itemHandlers.postNow.begin, { id }, context)),
  schedule: action(
    5,
    (next) => ({ item: among(itemIds, next), inMs: among(DUE_IN, next), onMissed: policy(next) }),
    schedule,
  ),
  /** Of any other item the same request means to post it, which is a step of its own. */
  'post again': onItem(4, 'post again', async (id, context) => {
    requestAgain(await lockItem(context.sql, id), { by: 'session', now: context.gate.now })
    return handled(itemHandlers.postNow.begin, { id, confirm: 'post_again' }, context)
  }),
  reject: withdrawal(1, 'reject', (id, context) => handled(itemHandlers.reject, { id }, context)),
  reopen: withdrawal(2.5, 'reopen', (id, context) => handled(itemHandlers.reopen, { id }, context)),
  delete: withdrawal(1, 'delete', (id, context) => handled(itemHandlers.remove, { id }, context)),
  restore: onItem(1.5, 'restore', (id, context) => handled(itemHandlers.restore, { id }, context)),
  unschedule: onItem(3, 'unschedule', (id, context) =>
    handled(itemHandlers.unschedule, { id }, context),
  ),
  'mark posted': onItem(2, 'mark posted', (id, context) =>
    handled(itemHandlers.markPosted, { id }, context),
  ),
  rewrite: action(
    2,
    (next) => ({ item: among(itemIds, next), ...among(rewritings, next) }),
    rewrite,
  ),
  edit: action(1.5, (next) => ({ item: among(itemIds, next), ...among(edits, next) }), edit),
}
