/** Adapters whose messages are spans, where there are traces. */
import { inSpan, type Tracer } from '#kernel/trace'
import type { ChannelAdapter } from './channel.ts'
import { type ChannelAdapters, mapAdapters } from './registry.ts'

const tracing = (adapter: ChannelAdapter, tracer: Tracer): ChannelAdapter => ({
  ...adapter,
  send: (connection, message, signal) =>
    inSpan(
      tracer,
      { name: 'channel reply', facts: { channel: adapter.channel } },
      () => adapter.send(connection, message, signal),
      ({ kind }) => ({ outcome: kind, isFailure: kind === 'unknown' }),
    ),
})

export const tracingAdapters = (adapters: ChannelAdapters, tracer: Tracer): ChannelAdapters =>
  mapAdapters(adapters, (adapter) => tracing(adapter, tracer))
