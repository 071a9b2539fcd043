/**
 * Adapters that remove credentials from their providers' words. A provider can repeat what it was
 * given, and its errors are kept and shown.
 */
import { cleanedOf, secretsOf } from '#domain/agent/mcp/secrets'
import type { ChannelAdapter, OpenConnection } from './channel.ts'
import { type ChannelAdapters, mapAdapters } from './registry.ts'

const clean = <V>({ credentials }: OpenConnection, value: V): V =>
  cleanedOf(value, secretsOf(Object.values(credentials)), '[a credential]')

const withError = <V extends { kind: string }>(connection: OpenConnection, said: V): V =>
  'error' in said ? { ...said, error: clean(connection, said.error) } : said

const discreet = (adapter: ChannelAdapter): ChannelAdapter => {
  const { fetch, download } = adapter
  return {
    ...adapter,
    check: async (connection, signal) => clean(connection, await adapter.check(connection, signal)),
    send: async (connection, message, signal) =>
      withError(connection, await adapter.send(connection, message, signal)),
    ...(fetch && {
      fetch: async (connection, toFetch, signal) =>
        withError(connection, await fetch(connection, toFetch, signal)),
    }),
    ...(download && {
      download: async (connection, ref, signal) =>
        withError(connection, await download(connection, ref, signal)),
    }),
  }
}

export const discreetAdapters = (adapters: ChannelAdapters): ChannelAdapters =>
  mapAdapters(adapters, discreet)
