import type { growthPlan } from '#contract/growth/plan'
import { planOfWorkspace } from '#store/app/workspace'
import { planView } from '../app/plan.ts'
import type { Handlers } from '../engine/call.ts'

export const growthPlanHandlers: Handlers<typeof growthPlan> = {
  async get(_, { read }) {
    const [row] = await read(planOfWorkspace)
    return { plan: planView(row!) }
  },
}
