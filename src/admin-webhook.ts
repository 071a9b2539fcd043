/**
 * `tendril admin webhook …`: each command is a letter that runs where the workspace is owned, by the running server if there is
 * one. Secrets are made and sealed here, so that nobody on the way sees them.
 */
import { eventKinds } from '#contract/operator/webhook'
import { AppError, fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { scopes } from '#kernel/scopes'
import { createSealer } from '#kernel/sealed'
import type { Call } from '#ops/call'
import { createOperatorOperations } from '#ops/index'
import { newWebhookSecret } from '#port/webhook'
import { checkCanary } from '#store/canary'
import { latestEvents } from '#store/outbox'
import { hasTenant } from '#store/tenants'
import { secretRow } from '#store/webhooks'
import { type Flags, type Place, text, uuid } from './admin-flags.ts'
import { joinDatabase } from './database.ts'
import { secretKey } from './secret-key.ts'
import { openWorkplace, type Workplace } from './server.ts'

export const webhookHelp = `tendril admin webhook set --workspace ID --url URL [--events ${eventKinds.slice(0, 2).join(',')}]
tendril admin webhook rotate --workspace ID
tendril admin webhook disable --workspace ID
tendril admin webhook test --workspace ID
tendril admin webhook events --workspace ID
tendril admin webhook replay --workspace ID --id EVENT`

interface Operator {
  workspaceId: string
  workplace: Workplace
  /** A new secret in the clear, and as the operations take it. */
  newSecret(): { secret: string; sealed: string }
  run(operation: string, input: Record<string, unknown>): Promise<Record<string, unknown>>
}

type Reply = { webhook?: object; event_id?: string }

const runner =
  ({ world }: Workplace, tenantId: string): Operator['run'] =>
  async (name, input) => {
    const operation = createOperatorOperations(world).find(({ id }) => id === `operator.webhook.${name}`) ?? fail('internal')
    const principal = { kind: 'system', id: 'operator' } as const
    const call: Call = { tenantId, principal, scopes: new Set(scopes), surface: 'admin', requestId: newId() }
    const { webhook, ...rest } = JSON.parse((await operation.run(() => input, call)).body) as Reply
    return { workspace_id: tenantId, ...webhook, ...rest }
  }

/** Works in this process, or in the one that owns the workspace; this one begins nobody's due work. */
const asOperator = async ({ config, log }: Place, flags: Flags, act: (operator: Operator) => Promise<object>): Promise<object> => {
  const workspaceId = uuid(flags, 'workspace')
  await using database = await joinDatabase(config, log)
  const secret = await secretKey(config)
  await checkCanary(database.options, secret)
  const overrides = { sweepMs: 0, lanes: [] }
  await using workplace = await openWorkplace(config, { ...database.options, max: 2 }, { log, secret, overrides })
  if (!(await hasTenant(workplace.db, workspaceId))) throw new AppError('not_found', 'no such workspace')
  const newSecret = () => {
    const made = newWebhookSecret()
    return { secret: made, sealed: createSealer(secret).seal(made, secretRow(workspaceId)).toString('base64') }
  }
  return await act({ workspaceId, workplace, newSecret, run: runner(workplace, workspaceId) })
}

const kinds = ({ events }: Flags): string[] => (typeof events === 'string' ? events.split(',').filter((kind) => kind !== '') : [])

/** By their words. Secrets are in what `set` and `rotate` print, and nowhere afterwards. */
export const webhookCommands: Record<string, (place: Place, flags: Flags) => Promise<object>> = {
  'webhook set': (place, flags) =>
    asOperator(place, flags, async ({ run, newSecret }) => {
      const { secret, sealed } = newSecret()
      return { ...(await run('set', { url: text(flags, 'url'), events: kinds(flags), secret: sealed })), secret }
    }),
  'webhook rotate': (place, flags) =>
    asOperator(place, flags, async ({ run, newSecret }) => {
      const { secret, sealed } = newSecret()
      return { ...(await run('rotate', { secret: sealed })), secret }
    }),
  'webhook disable': (place, flags) => asOperator(place, flags, ({ run }) => run('disable', {})),
  'webhook test': (place, flags) => asOperator(place, flags, ({ run }) => run('test', {})),
  'webhook events': (place, flags) =>
    asOperator(place, flags, async ({ workspaceId, workplace }) => ({
      workspace_id: workspaceId,
      events: await workplace.db.read({ tenantId: workspaceId }, latestEvents),
    })),
  'webhook replay': (place, flags) => asOperator(place, flags, ({ run }) => run('replay', { id: uuid(flags, 'id') })),
}
