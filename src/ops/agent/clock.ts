import type { clockCapabilities } from '#contract/agent/clock'
import { timeAt } from '#kernel/calendar'
import { databaseTime } from '#store/engine/clock'
import { loadBy } from '#store/engine/load'
import { profilePart } from '#store/growth/profiles'
import type { Handlers } from '../engine/call.ts'

export const clockHandlers: Handlers<typeof clockCapabilities> = {
  async get_current_time({ timeZone }, { read }) {
    const { clock, profile } = await loadBy(read, { clock: databaseTime, profile: profilePart })
    const zone = timeZone ?? profile.profile.time_zone
    return { now: clock.now, timeZone: zone, localTime: timeAt(clock.now, zone) }
  },
}
