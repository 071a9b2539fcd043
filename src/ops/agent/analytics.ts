import { type analytics, MOST_SHOWN_PENDING } from '#contract/agent/analytics'
import type { ToolBox } from '#decisions/agent/toolbox'
import { actionsView, costView, daysOf, tasksView } from '#domain/agent/job/analytics'
import {
  actionsSince,
  costSince,
  endedByDay,
  newestPending,
  pendingApprovals,
} from '#store/agent/analytics'
import { databaseTime } from '#store/engine/clock'
import { loadBy } from '#store/engine/load'
import { partyOf } from '#store/engine/principal'
import { profilePart } from '#store/growth/profiles'
import type { Handlers } from '../engine/call.ts'

export const analyticsHandlers = (tools: Pick<ToolBox, 'tools'>): Handlers<typeof analytics> => ({
  async get({ window = '7d' }, { read, principal }) {
    const { profile: stored, clock } = await loadBy(read, {
      profile: profilePart,
      clock: databaseTime,
    })
    const days = daysOf(window, clock.now, stored.profile.time_zone)
    const since = days.starts[0]!
    const { ended, used, calls, pending, items } = await loadBy(read, {
      ended: endedByDay(days.starts),
      used: costSince(since),
      calls: actionsSince(since),
      pending: pendingApprovals,
      items: newestPending(MOST_SHOWN_PENDING, partyOf(principal)),
    })
    const { running, ...cost } = used
    return {
      window,
      generated_at: clock.now,
      tasks: tasksView(days, ended, running),
      cost: costView(cost),
      actions: actionsView(calls, (tool) => tools.tools.get(tool)?.module),
      approvals: { pending: pending.count, items },
    }
  },
})
