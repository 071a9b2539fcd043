import type { Channel, ChannelConnection } from '#domain/agent/channel/channel'
import { channelConnectionView } from '#domain/agent/channel/connection'
import { channelSetup } from '#domain/agent/channel/setup'
import { fail, found } from '#kernel/errors'
import type { Sealer } from '#kernel/sealer'
import type { ChannelAdapter } from '#port/channel/channel'
import type { ChannelAdapters } from '#port/channel/registry'
import { channelConnectionPart } from '#store/agent/channel-connections'
import type { Db } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import { workFor } from '#store/engine/work'
import type { HandlerResult, Identity } from '../../engine/call.ts'

export interface ConnectionParts {
  db: Db
  sealer: Sealer
  channels: ChannelAdapters
  identity: Pick<Identity, 'publicUrl'>
}

export const requireChannelConnection = (
  connection: ChannelConnection | undefined,
): ChannelConnection => found(connection, 'no such channel')

export const loadConnection = ({ id }: { id: string }) => ({ before: channelConnectionPart(id) })

export const checkOf = ({ id }: { id: string }) => ({ check: workFor('channel_check', id) })

export const adapterOf = ({ channels }: ConnectionParts, channel: Channel): ChannelAdapter =>
  channels[channel] ?? fail('unavailable', `this deployment has no adapter for ${channel}`)

export const setupOf = (
  { identity: { publicUrl } }: ConnectionParts,
  { channel, routing_key: routingKey, config }: ChannelConnection,
) => channelSetup({ channel, publicUrl, routingKey, config })

/** What the audit keeps: names, never values. */
const traceOf = ({
  channel,
  routing_key,
  sender_policy,
  status,
  credential_names,
}: ChannelConnection) => ({
  channel,
  routing_key,
  sender_policy,
  status,
  credentials: credential_names,
})

export const resultOf = (
  connection: ChannelConnection,
  effects: Effects,
): HandlerResult<{ connection: ReturnType<typeof channelConnectionView> }> => ({
  reply: { connection: channelConnectionView(connection) },
  effects,
  refId: connection.id,
  auditDetail: traceOf(connection),
})
