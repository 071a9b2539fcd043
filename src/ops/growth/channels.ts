import type { growthChannelOperations } from '#contract/growth/channels'
import { channelOfRow, limitOf, updateChannel } from '#domain/growth/drafting/growth-channel'
import { found } from '#kernel/errors'
import { limitsFor } from '#port/network/registry'
import { defaultPart } from '#store/growth/connections'
import { channelById, growthChannels, saveChannel } from '#store/growth/growth-channels'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'

export const growthChannelHandlers: Handlers<typeof growthChannelOperations> = {
  async list(_, { read }) {
    return { channels: (await read(growthChannels)).map(channelOfRow) }
  },

  update: loading(
    ({ id }) => ({ before: channelById(id), account: defaultPart }),
    ({ id: _, ...patch }, { gate, networks }, { account, ...loaded }) => {
      const before = found(loaded.before, 'no such channel')
      const channel = updateChannel(before, patch, {
        limit: limitOf(before.name, limitsFor(networks, account)),
        now: gate.now,
      })
      return { reply: { channel }, effects: { writes: [saveChannel(channel)] } }
    },
  ),
}
