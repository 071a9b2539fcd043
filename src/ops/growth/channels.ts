import type { channels } from '#contract/growth/channels'
import { limitOf, updateChannel } from '#domain/growth/drafting/growth-channel'
import { limitsFor } from '#port/network/registry'
import { currentDefault } from '#store/growth/connections'
import { lockChannel, saveChannel } from '#store/growth/growth-channels'
import type { Handlers } from '../call.ts'

export const channelHandlers: Handlers<typeof channels> = {
  async update({ id, ...patch }, { sql, gate, networks }) {
    const before = await lockChannel(sql, id)
    const limit = limitOf(before.name, limitsFor(networks, await currentDefault(sql)))
    const channel = updateChannel(before, patch, { limit, now: gate.now })
    return { reply: { channel }, effects: { writes: [saveChannel(channel)] } }
  },
}
