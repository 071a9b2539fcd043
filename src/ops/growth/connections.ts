import type { connection, connections } from '#contract/growth/connections'
import type { Connection } from '#domain/connection'
import { publishTimes, settle } from '#domain/publish'
import { AppError, fail } from '#kernel/errors'
import { openAttempt } from '#store/attempts'
import { currentDefault, defaultConnection, disconnect, listConnections, lockConnection, makeDefault } from '#store/connections'
import { lockItem } from '#store/items'
import { type Effects, forgetPending, merge } from '#store/letter'
import { settledEffects } from '#store/settled'
import type { CommandContext, Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'

/** Reads of the networks that exist so far cost nothing. */
const view = (account: Connection | undefined) => ({
  connection: { connected: account !== undefined, tier: 'free' as const, account: account ?? null },
})

export const connectionHandlers: Handlers<typeof connection> = {
  get: async (_, { read }) => view((await read<Connection>(defaultConnection))[0]),

  async disconnect(_, context) {
    const account = (await currentDefault(context.sql)) ?? fail('x_not_connected')
    const recalled = await recallSends(context, account)
    const effects = merge({ writes: [disconnect(account.id, context.gate.now)] }, ...recalled.effects)
    return { reply: view(undefined), effects, refId: account.id, answers: recalled.answers }
  },
}

export const connectionsHandlers: Handlers<typeof connections> = {
  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read<Connection>(listConnections(page)), page.limit)
    return { connections: rows, next_cursor }
  },

  async setDefault({ id }, { sql, gate }) {
    const account = await lockConnection(sql, id)
    if (account.status !== 'connected') fail('conflict', 'cannot make default: the account is disconnected')
    const next: Connection = { ...account, is_default: true, updated_at: gate.now }
    return { reply: view(next), effects: { writes: [makeDefault(id, gate.now)] } }
  },
}

/** Sends from the account that are claimed but not on the wire do not go out any more. */
const recallSends = async ({ sql, gate, lanes }: CommandContext, account: Connection) => {
  const slot = `publish:${account.external_id}`
  const effects: Effects[] = []
  const answers: { refId: string; with: AppError }[] = []
  for (const work of lanes.recall((one) => one.slot === slot)) {
    const item = await lockItem(sql, work.ref_id)
    const attempt = await openAttempt(sql, work.ref_id)
    if (!attempt) continue
    const settled = settle(
      { item, attempt, tries: 0, now: gate.now, times: publishTimes },
      { kind: 'disconnected', reason: 'disconnected' },
    )
    effects.push(merge(settledEffects(settled, work), { writes: [forgetPending(item.id)] }))
    answers.push({ refId: item.id, with: new AppError('x_not_connected') })
  }
  return { effects, answers }
}
