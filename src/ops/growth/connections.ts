import type { connection, connections } from '#contract/growth/connections'
import type { Connection } from '#domain/connection'
import { AppError, fail } from '#kernel/errors'
import { currentDefault, defaultConnection, disconnect, listConnections, lockConnection, makeDefault } from '#store/connections'
import { forgetPending, merge } from '#store/letter'
import type { Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'
import { settleRecalled } from '../recall.ts'

/** Reads of the networks that exist so far cost nothing. */
const view = (account: Connection | undefined) => ({
  connection: { connected: account !== undefined, tier: 'free' as const, account: account ?? null },
})

export const connectionHandlers: Handlers<typeof connection> = {
  get: async (_, { read }) => view((await read<Connection>(defaultConnection))[0]),

  async disconnect(_, context) {
    const account = (await currentDefault(context.sql)) ?? fail('x_not_connected')
    // Sends from the account that are claimed but not on the wire do not go out any more.
    const works = context.lanes.recall((work) => work.slot === `publish:${account.external_id}`)
    const { effects, itemIds } = await settleRecalled(context, works, { kind: 'disconnected', reason: 'disconnected' })
    const writes = [disconnect(account.id, context.gate.now), ...itemIds.map((itemId) => forgetPending(itemId))]
    const answers = itemIds.map((refId) => ({ refId, with: new AppError('x_not_connected') }))
    return { reply: view(undefined), effects: merge({ writes }, effects), refId: account.id, answers }
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
