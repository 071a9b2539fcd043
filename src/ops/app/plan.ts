import type { plan } from '#contract/app/plan'
import { features } from '#contract/limits'
import { agentBudgetsOf, nearLimits } from '#domain/app/nearing'
import { budgetsOf, hasFeature } from '#domain/app/plan'
import { readsView, tiers } from '#domain/app/read-budget'
import { documentRoom } from '#domain/app/room'
import { type PlanRow, planOfWorkspace } from '#store/app/workspace'
import type { Handlers } from '../engine/call.ts'

/** The plan as surfaces show it. */
export const planView = ({ now, counters, ...state }: PlanRow) => {
  const budget = { plan: state, counters, now }
  const reads = tiers.map((tier) => readsView(budget, tier))
  const own = features.filter((feature) => hasFeature(state, feature))
  const room = documentRoom(budget)
  const documents = { limit: room.documents, bytes_used: room.used, bytes_limit: room.limit }
  const { quotas, caps } = budgetsOf(budget)
  const agent = agentBudgetsOf(budget)
  const near = nearLimits([...quotas, ...agent])
  return {
    name: state.plan,
    billing: state.billing,
    quotas,
    caps,
    agent,
    near,
    reads,
    documents,
    features: own,
  }
}

export const planHandlers: Handlers<typeof plan> = {
  async get(_, { read }) {
    const [row] = await read(planOfWorkspace)
    return { plan: planView(row!) }
  },
}
