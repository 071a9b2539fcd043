import type { plan } from '#contract/app/plan'
import { budgetsOf } from '#domain/plan'
import { type PlanRow, planOfWorkspace } from '#store/workspace'
import type { Handlers } from '../call.ts'

export const planHandlers: Handlers<typeof plan> = {
  async get(_, { read }) {
    const [row] = await read<PlanRow>(planOfWorkspace)
    const { now, counters, ...state } = row!
    return { plan: { name: state.plan, billing: state.billing, ...budgetsOf({ plan: state, counters, now }) } }
  },
}
