import type { channels } from '#contract/agent/channels'
import { channelNames } from '#contract/channel-names'
import { checkNow } from '#decisions/agent/channel-connections'
import { sendsFor } from '#decisions/agent/channel-replies'
import type { Channel } from '#domain/agent/channel/channel'
import { channelConnectionView, missingCredentials } from '#domain/agent/channel/connection'
import type { ChannelReply } from '#domain/agent/channel/reply'
import { disconnectReply } from '#domain/agent/channel/reply-decisions'
import { channelSetup } from '#domain/agent/channel/setup'
import { COMMON_CONFIG } from '#domain/agent/channel/trust'
import { fail } from '#kernel/errors'
import {
  channelConnections,
  deleteChannelConnection,
  deleteChannelRoutes,
  routedChannels,
} from '#store/agent/channel-connections'
import { saveReply, sendingReplies, waitingReplies } from '#store/agent/channel-replies'
import { loadBy } from '#store/engine/load'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { create, update } from './channel/configuring.ts'
import {
  adapterOf,
  type ConnectionParts,
  checkOf,
  loadConnection,
  requireChannelConnection,
  resultOf,
  setupOf,
} from './channel/connection.ts'

type All = Handlers<typeof channels>

const adapterView = (
  { channels, identity: { publicUrl } }: ConnectionParts,
  channel: Channel,
  configured: boolean,
) => {
  const { credentials = {}, config = {} } = channels[channel]?.fields ?? {}
  const known = { ...config, ...COMMON_CONFIG }
  return {
    channel,
    configured,
    credentials: Object.entries(credentials).map(([name, { needed, description }]) => ({
      name,
      needed,
      description,
    })),
    config: Object.entries(known).map(([name, { description }]) => ({ name, description })),
    setup: channelSetup({ channel, publicUrl }),
  }
}

const inFlight = (replies: readonly ChannelReply[]) =>
  replies.map(({ id, updated_at }) => ({
    reply_id: id,
    origin: 'manual' as const,
    since: updated_at,
  }))

const check = (parts: ConnectionParts): All['check'] =>
  loading(
    (input) => ({ ...loadConnection(input), ...checkOf(input) }),
    (_, { gate: { now } }, { before, check }) => {
      const connection = requireChannelConnection(before)
      const missing = missingCredentials(
        adapterOf(parts, connection.channel).fields,
        connection.credential_names,
      )
      if (missing !== null)
        fail('conflict', `cannot check: ${missing}`, { reason: 'missing_prerequisite' })
      return resultOf(connection, checkNow(connection, check, now))
    },
  )

const remove: All['remove'] = loading(
  (input) => ({
    ...loadConnection(input),
    ...checkOf(input),
    replies: waitingReplies(input.id),
    sending: sendingReplies(input.id),
  }),
  ({ id }, { lanes, gate }, { before, check, replies, sending }) => {
    const connection = requireChannelConnection(before)
    // A part that is not on the wire yet is not sent any more.
    const recalled = lanes.recall(sendsFor(id)).map(({ ref_id }) => ref_id)
    const left = sending.filter((reply) => !recalled.includes(reply.id))
    const kept = left.map((reply) =>
      saveReply(disconnectReply(reply, gate.now), connection.channel),
    )
    const writes = [...kept, deleteChannelConnection(id), deleteChannelRoutes(connection)]
    const { reply, ...result } = resultOf(connection, {
      writes,
      settled: [
        ...(check?.state === 'queued' ? [check.id] : []),
        ...replies.map(({ work }) => work),
      ],
    })
    return { ...result, reply: { ...reply, in_flight: inFlight(left) } }
  },
)

export const channelHandlers = (parts: ConnectionParts): All => ({
  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, routed } = await loadBy(read, {
      rows: channelConnections(page),
      routed: routedChannels,
    })
    const { rows: connections, next_cursor } = pageResult(rows, page.limit)
    const isRouted = (one: Channel) => routed.some(({ channel }) => channel === one)
    const adapters = channelNames.map((one) => adapterView(parts, one, isRouted(one)))
    return {
      connections: connections.map(channelConnectionView),
      nextCursor: next_cursor,
      adapters,
    }
  },

  async get({ id }, { read }) {
    const connection = requireChannelConnection((await loadBy(read, loadConnection({ id }))).before)
    return { connection: channelConnectionView(connection), setup: setupOf(parts, connection) }
  },

  create: create(parts),
  update: update(parts),
  check: check(parts),
  remove,
})
