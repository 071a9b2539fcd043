import type { usage } from '#contract/agent/usage'
import { usageView } from '#domain/agent/job/usage'
import { costEstimated } from '#store/agent/jobs'
import { callsByTool } from '#store/agent/steps'
import { type PlanRow, planOfWorkspace } from '#store/app/workspace'
import { loadBy, one, sure } from '#store/engine/load'
import type { Handlers } from '../engine/call.ts'

const planPart = sure(one<PlanRow>({ now: true }, planOfWorkspace))

export const usageHandlers: Handlers<typeof usage> = {
  async get(_, { read }) {
    const {
      plan: row,
      calls,
      estimated,
    } = await loadBy(read, { plan: planPart, calls: callsByTool, estimated: costEstimated })
    const { now, counters, ...plan } = row
    return { ...usageView({ plan, counters, now }, calls), cost_is_estimated: estimated.any }
  },
}
