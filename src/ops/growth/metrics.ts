import type { metrics } from '#contract/growth/metrics'
import { periodMeans } from '#domain/growth/learning/period'
import { refuseField } from '#kernel/errors'
import { databaseTime } from '#store/engine/clock'
import { loadBy } from '#store/engine/load'
import { sumsBy } from '#store/growth/metrics'
import { profilePart } from '#store/growth/profiles'
import type { Handlers } from '../engine/call.ts'

const DAY_MS = 86_400_000
const MOST_DAYS = 366
const USUAL_DAYS = { day: 30, week: 84 }

export const metricHandlers: Handlers<typeof metrics> = {
  async list({ by = 'day', ...input }, { read, networks: { uncounted } }) {
    const { stored, clock } = await loadBy(read, { stored: profilePart, clock: databaseTime })
    const to = input.to === undefined ? clock.now : new Date(input.to)
    const from =
      input.from === undefined
        ? new Date(to.getTime() - USUAL_DAYS[by] * DAY_MS)
        : new Date(input.from)
    if (to <= from) refuseField('to', 'must be later than from')
    if (to.getTime() - from.getTime() > MOST_DAYS * DAY_MS)
      refuseField('to', `must be at most ${MOST_DAYS} days after from`)
    const { sums } = await loadBy(read, {
      sums: sumsBy(by, { from, to, zone: stored.profile.time_zone, uncounted }),
    })
    return {
      metrics: sums.map(({ basis, sum, squares, ...counts }) => ({
        ...counts,
        counts_impressions: basis === 'impressions',
        ...periodMeans({ ...counts, basis, sum, squares }),
      })),
    }
  },
}
