import type { plan } from '#contract/app/plan'
import { features } from '#contract/limits'
import { budgetsOf, hasFeature } from '#domain/app/plan'
import { readsView, tiers } from '#domain/app/read-budget'
import { planOfWorkspace } from '#store/app/workspace'
import type { Handlers } from '../call.ts'

export const planHandlers: Handlers<typeof plan> = {
  async get(_, { read }) {
    const [row] = await read(planOfWorkspace)
    const { now, counters, ...state } = row!
    const budget = { plan: state, counters, now }
    const reads = tiers.map((tier) => readsView(budget, tier))
    const own = features.filter((feature) => hasFeature(state, feature))
    return { plan: { name: state.plan, billing: state.billing, ...budgetsOf(budget), reads, features: own } }
  },
}
