import type { brief } from '#contract/growth/brief'
import { operations } from '#contract/index'
import { briefFacts } from '#decisions/growth/brief-facts'
import { actionsOf } from '#domain/growth/brief/brief-rules'
import { firstAllowed } from '#port/network/others-post'
import { briefRecord } from '#store/growth/brief'
import type { Handlers } from '../call.ts'

const tools = new Map(operations.map(({ id, tool }) => [id, tool ?? null]))

export const briefHandlers: Handlers<typeof brief> = {
  async get({ include }, { read, networks }) {
    const [found] = await read(briefRecord(include ? {} : { most: 1 }))
    const { network } = found!.accounts
    const { limits } = (network && networks.named(network)) || networks.first
    const all = actionsOf(briefFacts(found!, { tier: limits.tier, engageBy: firstAllowed(networks, found!.best_signal) })).filter(
      ({ operation }) => tools.has(operation),
    )
    const actions = all.map(({ rows, ...action }) => ({
      ...action,
      tool: tools.get(action.operation) ?? null,
      ...(include ? { items: rows } : {}),
    }))
    return { brief: { actions } }
  },
}
