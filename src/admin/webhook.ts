/**
 * `tendril admin webhook …`: the owners' webhook operations, run by the operator. A command runs in
 * the process that owns the workspace, which is the running server if there is one.
 */
import { eventKinds } from '#contract/events'
import { AppError, fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { scopes } from '#kernel/scopes'
import { workspaceOperations } from '#ops/engine/bind'
import type { Call } from '#ops/engine/call'
import { createOperations } from '#ops/index'
import { joinDatabase } from '#server/database'
import { openWorkplace, type Workplace } from '#server/workplace'
import { hasTenant } from '#store/app/tenants'
import { type AdminContext, type Flags, text, uuid } from './flags.ts'

export const webhookHelp = `Manage the webhook endpoint of a workspace; set and rotate print a new secret, once:
  tendril admin webhook set --workspace ID --url URL [--events ${eventKinds.slice(0, 2).join(',')}]
  tendril admin webhook rotate --workspace ID
  tendril admin webhook disable --workspace ID
  tendril admin webhook test --workspace ID
  tendril admin webhook events --workspace ID
  tendril admin webhook replay --workspace ID --id EVENT`

/** An operation's answer. */
interface Reply {
  webhook?: object
  event?: { id: string }
}

type Run = (name: string, input?: Record<string, unknown>) => Promise<object>

const LATEST = 40

const runner =
  ({ world }: Workplace, tenantId: string): Run =>
  async (name, input = {}) => {
    const operation =
      workspaceOperations(createOperations(world)).find(({ id }) => id === `app.webhook.${name}`) ??
      fail('internal')
    const principal = { kind: 'system', id: 'operator' } as const
    const call: Call = {
      tenantId,
      principal,
      scopes: new Set([...scopes, 'session']),
      surface: 'admin',
      requestId: newId(),
    }
    const { webhook, event, ...rest } = JSON.parse(
      (await operation.run(() => input, call)).body,
    ) as Reply
    return { workspace_id: tenantId, ...webhook, ...(event ? { event_id: event.id } : {}), ...rest }
  }

/** Runs in this process or in the one that owns the workspace. This process starts no due work. */
const asOperator = async (
  { config, log }: AdminContext,
  flags: Flags,
  act: (run: Run) => Promise<object>,
): Promise<object> => {
  const workspaceId = uuid(flags, 'workspace')
  await using database = await joinDatabase(config, log)
  const overrides = { sweepMs: 0, lanes: [] }
  await using workplace = await openWorkplace(
    config,
    { ...database.options, max: 2 },
    { log, secret: database.secret, overrides },
  )
  if (!(await hasTenant(workplace.db, workspaceId)))
    throw new AppError('not_found', 'no such workspace')
  return await act(runner(workplace, workspaceId))
}

const kinds = ({ events }: Flags): string[] =>
  typeof events === 'string' ? events.split(',').filter((kind) => kind !== '') : []

/** The commands by their words. Only `set` and `rotate` print a secret, and only once. */
export const webhookCommands: Record<
  string,
  (place: AdminContext, flags: Flags) => Promise<object>
> = {
  'webhook set': (place, flags) => {
    const wanted = { url: text(flags, 'url'), events: kinds(flags) }
    return asOperator(place, flags, (run) => run('set', wanted))
  },
  'webhook rotate': (place, flags) => asOperator(place, flags, (run) => run('rotate')),
  'webhook disable': (place, flags) => asOperator(place, flags, (run) => run('disable')),
  'webhook test': (place, flags) => asOperator(place, flags, (run) => run('test')),
  'webhook events': (place, flags) =>
    asOperator(place, flags, (run) => run('events', { limit: LATEST })),
  'webhook replay': (place, flags) => {
    const id = uuid(flags, 'id')
    return asOperator(place, flags, (run) => run('replay', { id }))
  },
}
