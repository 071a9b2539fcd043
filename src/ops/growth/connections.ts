import type { connection, connections } from '#contract/growth/connections'
import {
  accountView,
  connectionView,
  disconnectEffects,
  limitsView,
  resumeWatching,
} from '#decisions/growth/connecting'
import { goOverDrafts } from '#decisions/growth/marks-work'
import { notConnected } from '#decisions/growth/not-connected'
import type { Connection } from '#domain/growth/sending/connection'
import { refuseNaming } from '#domain/growth/way-on'
import { found } from '#kernel/errors'
import { networkFor } from '#port/network/registry'
import { attemptsInFlight } from '#store/growth/attempts'
import {
  choicesPart,
  connectionOverview,
  connectionPart,
  defaultPart,
  listConnections,
  makeDefault,
} from '#store/growth/connections'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'

export const connectionHandlers: Handlers<typeof connection> = {
  async get(_, { read, networks }) {
    const [row] = await read(connectionOverview)
    const { plan, billing, overrides, counters, now, choices, ...account } = row!
    const gate = { plan: { plan, billing, overrides }, counters, now }
    return connectionView(
      { networks, gate },
      account.id === null ? undefined : account,
      choices ?? [],
    )
  },

  disconnect: loading(
    () => ({ account: defaultPart, choices: choicesPart, attempts: attemptsInFlight }),
    async (_, context, { account, choices, attempts }) => {
      if (!account) throw await notConnected(context.sql)
      const others = choices.filter(({ id }) => id !== account.id)
      const { result, inFlight } = await disconnectEffects(context, account, attempts)
      return {
        ...result,
        reply: { ...connectionView(context, undefined, others), in_flight: inFlight },
      }
    },
  ),
}

export const connectionsHandlers: Handlers<typeof connections> = {
  async list(input, { read, networks }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read(listConnections(page)), page.limit)
    const named = [...new Set(rows.map(({ network }) => network))]
    const limits = named.map((network) => ({
      network,
      limits: limitsView(networkFor(networks, { network })),
    }))
    return { connections: rows.map(accountView), networks: limits, next_cursor }
  },

  setDefault: loading(
    ({ id }) => ({ account: connectionPart(id), current: defaultPart }),
    async ({ id }, context, { account, current }) => {
      const { sql, gate, networks, tenantId } = context
      const named = found(account, 'no such connected account')
      if (named.status !== 'connected')
        refuseNaming(
          'missing_prerequisite',
          'cannot make default: the account is disconnected',
          'growth.connections.list',
        )
      const next: Connection = { ...named, is_default: true, updated_at: gate.now }
      const requeued = current ? [] : await resumeWatching(sql, gate.now)
      const work = networkFor(networks, next).marks ? [goOverDrafts(tenantId, gate.now)] : []
      return {
        reply: connectionView(context, next),
        effects: { writes: [makeDefault(id, gate.now)], requeued, work },
      }
    },
  ),
}
