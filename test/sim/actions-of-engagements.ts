/** What people do with engagements. */
import type { CommandContext } from '#ops/engine/call'
import { engagementHandlers } from '#ops/growth/engagements'
import { type Action, action, type Handled, takingBack } from './action.ts'
import { engagementIds, replies, WRITTEN } from './engaging.ts'
import { among } from './history.ts'
import { ask, handled } from './nodes.ts'

const onEngagement = (
  weight: number,
  name: string,
  handle: (id: string, context: CommandContext) => Handled,
): Action =>
  action(
    weight,
    (next) => ({ engagement: among(engagementIds, next) }),
    (world, { engagement }) =>
      ask(world, { name, id: engagement }, (context) => handle(engagement, context)),
  )

/** Refused only if it is too late, as for items. */
const ofEngagement = (
  weight: number,
  name: string,
  {
    ids = engagementIds,
    handle,
  }: { ids?: string[]; handle: (id: string, context: CommandContext, body?: string) => Handled },
): Action =>
  action(
    weight,
    (next) => ({ engagement: among(ids, next), body: among(replies, next) }),
    (world, { engagement, body }) =>
      takingBack(world, { name, item: engagement }, (context) => handle(engagement, context, body)),
  )

const handlersOf = ({ networks }: CommandContext) => engagementHandlers({ networks } as never)

export const engagementActions: Record<string, Action> = {
  'approve engagement': onEngagement(1.5, 'approve engagement', (id, context) =>
    handled(handlersOf(context).approve.begin, { id }, context),
  ),
  'approve and execute': onEngagement(1, 'approve and execute', (id, context) =>
    handled(handlersOf(context).approve.begin, { id, execute: true }, context),
  ),
  execute: onEngagement(2.5, 'execute', (id, context) =>
    handled(handlersOf(context).execute.begin, { id }, context),
  ),
  'reject engagement': ofEngagement(0.4, 'reject engagement', {
    handle: (id, context) => handled(handlersOf(context).reject, { id }, context),
  }),
  'reopen engagement': ofEngagement(0.6, 'reopen engagement', {
    handle: (id, context) => handled(handlersOf(context).reopen, { id }, context),
  }),
  'edit engagement': ofEngagement(0.6, 'edit engagement', {
    ids: [WRITTEN],
    handle: (id, context, body = '') => handled(handlersOf(context).edit, { id, body }, context),
  }),
  'delete engagement': ofEngagement(0.3, 'delete engagement', {
    handle: (id, context) => handled(handlersOf(context).remove, { id }, context),
  }),
  'restore engagement': onEngagement(0.5, 'restore engagement', (id, context) =>
    handled(handlersOf(context).restore, { id }, context),
  ),
  'mark done': onEngagement(0.2, 'mark done', (id, context) =>
    handled(handlersOf(context).done, { id }, context),
  ),
}
