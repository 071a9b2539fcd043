import type { counts } from '#contract/growth/counts'
import { engagementStatuses as engagements } from '#contract/records/growth/engagement'
import { itemStatuses } from '#contract/records/growth/item'
import { loadBy } from '#store/engine/load'
import { countsOf } from '#store/growth/counts'
import type { Handlers } from '../engine/call.ts'

const names = { items: [...itemStatuses, 'scheduled'], engagements }

export const countHandlers: Handlers<typeof counts> = {
  async get(_, { read }) {
    return await loadBy(read, { counts: countsOf(names) })
  },
}
