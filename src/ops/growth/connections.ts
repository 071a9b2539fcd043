import type { connection, connections } from '#contract/growth/connections'
import { connectionView, disconnectEffects, resumeWatching } from '#decisions/growth/connecting'
import type { Connection } from '#domain/growth/sending/connection'
import { fail } from '#kernel/errors'
import {
  type ConnectionRow,
  connectionOverview,
  currentDefault,
  listConnections,
  lockConnection,
  makeDefault,
} from '#store/growth/connections'
import type { Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'

export const connectionHandlers: Handlers<typeof connection> = {
  async get(_, { read, networks }) {
    const [row] = await read<ConnectionRow>(connectionOverview)
    const { plan, billing, overrides, counters, now, ...account } = row!
    const gate = { plan: { plan, billing, overrides }, counters, now }
    return connectionView({ networks, gate }, account.id === null ? undefined : account)
  },

  async disconnect(_, context) {
    const account = (await currentDefault(context.sql)) ?? fail('x_not_connected')
    return { ...(await disconnectEffects(context, account)), reply: connectionView(context, undefined) }
  },
}

export const connectionsHandlers: Handlers<typeof connections> = {
  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read<Connection>(listConnections(page)), page.limit)
    return { connections: rows, next_cursor }
  },

  async setDefault({ id }, context) {
    const { sql, gate } = context
    const account = await lockConnection(sql, id)
    if (account.status !== 'connected') fail('conflict', 'cannot make default: the account is disconnected')
    const next: Connection = { ...account, is_default: true, updated_at: gate.now }
    const requeued = (await currentDefault(sql)) ? [] : await resumeWatching(sql, gate.now)
    return { reply: connectionView(context, next), effects: { writes: [makeDefault(id, gate.now)], requeued } }
  },
}
