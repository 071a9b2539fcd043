/** Adapters that count what became of the messages that they sent. */
import type { ChannelAdapter, SendResult } from './channel.ts'
import { type ChannelAdapters, mapAdapters } from './registry.ts'

/** Must not throw. */
type Count = (channel: string, result: SendResult['kind']) => void

const counting = (adapter: ChannelAdapter, count: Count): ChannelAdapter => ({
  ...adapter,
  send: async (connection, message, signal) => {
    try {
      const result = await adapter.send(connection, message, signal)
      count(adapter.channel, result.kind)
      return result
    } catch (cause) {
      count(adapter.channel, 'unknown')
      throw cause
    }
  },
})

export const countingAdapters = (adapters: ChannelAdapters, count: Count): ChannelAdapters =>
  mapAdapters(adapters, (adapter) => counting(adapter, count))
