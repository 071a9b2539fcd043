/** Channels whose providers answer checks the way a test wants. */
import type { Channel } from '#domain/agent/channel/channel'
import type { ChannelAdapter, CredentialCheck, OpenConnection } from '#port/channel/channel'
import type { ChannelAdapters } from '#port/channel/registry'

export interface CheckedChannels {
  /** Passed as `Overrides.channels`. */
  replace(usual: ChannelAdapters): ChannelAdapters
  /** The provider's answer. */
  answer: (
    connection: OpenConnection,
    signal: AbortSignal,
  ) => CredentialCheck | Promise<CredentialCheck>
  /** The connections that it was asked about, in order. */
  asked: OpenConnection[]
}

/**
 * `names`: the channels that answer this way; the others are the usual ones. `more`: additional
 * credentials that they know.
 */
export const checkedChannels = (
  names: readonly Channel[] = ['dev'],
  more: readonly string[] = [],
): CheckedChannels => {
  const checked: CheckedChannels = {
    asked: [],
    answer: () => ({ kind: 'proven' }),
    replace: (usual) => ({
      ...usual,
      ...Object.fromEntries(names.map((name) => [name, replaced(usual[name]!)])),
    }),
  }
  const replaced = (adapter: ChannelAdapter): ChannelAdapter => ({
    ...adapter,
    fields: {
      ...adapter.fields,
      credentials: {
        ...adapter.fields.credentials,
        ...Object.fromEntries(more.map((name) => [name, { needed: false, description: '' }])),
      },
    },
    async check(connection, signal) {
      checked.asked.push(connection)
      return await checked.answer(connection, signal)
    },
  })
  return checked
}
