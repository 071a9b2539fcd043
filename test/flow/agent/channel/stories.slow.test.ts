/** Conversations in every channel, end to end, with servers that play the providers. */
import { channelCases } from '#test/cases/channel'
import { channelRows } from '#test/cases/channels'
import { useChannels } from '#test/support/channels/world'

const world = useChannels()
for (const row of channelRows) channelCases(world, row)
