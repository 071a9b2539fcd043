import type { liveEvents } from '#contract/app/events'
import { accessAlone } from '#store/engine/read-scope'
import type { Handlers } from '../engine/call.ts'

/** The stream is made by the surface: see src/edge/app/hint-streams.ts. */
export const eventHandlers: Handlers<typeof liveEvents> = {
  async follow(_, { read }) {
    await read(accessAlone)
    return { resync: true }
  },
}
