import type { brief, ShownBriefAction } from '#contract/growth/brief'
import { briefFacts } from '#decisions/growth/brief-facts'
import { actionsOf } from '#domain/growth/brief/brief-rules'
import { firstAllowed } from '#port/network/others-post'
import { briefRecord } from '#store/growth/brief'
import type { Handlers } from '../engine/call.ts'
import { callFor } from './brief/calls.ts'

export const briefHandlers: Handlers<typeof brief> = {
  async get({ include }, context) {
    const { read, networks } = context
    const [found] = await read(briefRecord(include ? {} : { most: 1 }))
    const { network } = found!.accounts
    const { limits } = (network && networks.named(network)) || networks.first
    const all = actionsOf(
      briefFacts(found!, {
        tier: limits.tier,
        engageBy: firstAllowed(networks, found!.best_signal),
      }),
    )
    const actions = all.flatMap((one) => {
      const call = callFor(one, context)
      const { rows, ...action } = one
      return call ? [{ ...action, ...call, ...(include ? { items: rows } : {}) }] : []
    })
    // Each kind of action has its own rows and arguments, which the answer is validated against.
    return { brief: { actions: actions as ShownBriefAction[] } }
  },
}
