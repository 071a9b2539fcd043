import type { channels } from '#contract/agent/channels'
import { channelNames } from '#contract/channel-names'
import { checkNow, credentialsOf } from '#decisions/agent/channel-connections'
import { sendsFor } from '#decisions/agent/channel-replies'
import type { Channel, ChannelConnection } from '#domain/agent/channel/channel'
import {
  type ConfiguredChannel,
  channelConnectionView,
  isRekeyed,
  missingCredentials,
  newChannelConnection,
  updateChannelConnection,
} from '#domain/agent/channel/connection'
import type { ChannelReply } from '#domain/agent/channel/reply'
import { disconnected } from '#domain/agent/channel/reply-decisions'
import { channelSetup } from '#domain/agent/channel/setup'
import { CLOSED, COMMON_CONFIG, commonConfigError, openedBy } from '#domain/agent/channel/trust'
import { invalid } from '#domain/agent/mcp/config'
import { fail, found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { Sealer } from '#kernel/sealer'
import type { ChannelAdapter } from '#port/channel/channel'
import type { ChannelAdapters } from '#port/channel/registry'
import {
  channelConnectionCount,
  channelConnectionOfKey,
  channelConnectionPart,
  channelConnections,
  channelCredentialsPart,
  channelCredentialsRow,
  channelRoutes,
  deleteChannelConnection,
  deleteChannelRoutes,
  insertChannelConnection,
  routedChannels,
  saveChannelConnection,
} from '#store/agent/channel-connections'
import { identityCount, unlinkAll } from '#store/agent/channel-identities'
import { saveReply, sendingReplies, waitingReplies } from '#store/agent/channel-replies'
import type { Db } from '#store/engine/db'
import { type Effects, merge } from '#store/engine/letter'
import { loadBy, when } from '#store/engine/load'
import { roleOf } from '#store/engine/principal'
import { type Work, workFor } from '#store/engine/work'
import type { CommandContext, HandlerResult, Handlers, Identity } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'

export interface ChannelParts {
  db: Db
  sealer: Sealer
  channels: ChannelAdapters
  identity: Pick<Identity, 'publicUrl'>
}

const the = (connection: ChannelConnection | undefined): ChannelConnection => found(connection, 'no such channel')

const before = ({ id }: { id: string }) => ({ before: channelConnectionPart(id) })

const checkOf = ({ id }: { id: string }) => ({ check: workFor('channel_check', id) })

const adapterOf = ({ channels }: ChannelParts, channel: Channel): ChannelAdapter =>
  channels[channel] ?? fail('unavailable', `this deployment has no adapter for ${channel}`)

/** Throws `invalid_input`. */
const keyOf = (adapter: ChannelAdapter, text: string): string => {
  const named = adapter.routingKeyOf(text.trim())
  return 'key' in named ? named.key : invalid('routingKey', named.error)
}

/** Throws `invalid_input`. */
const requireConfig = (adapter: ChannelAdapter, config: Record<string, unknown>): void => {
  const error = commonConfigError(config) ?? adapter.configError(config)
  if (error === undefined) return
  const [, path = 'config', message = error] = /^(config\.\w+) (.+)$/s.exec(error) ?? []
  invalid(path, message)
}

/** Of values that change. */
const sealedOf = ({ sealer }: ChannelParts, { connection: { id }, credentials }: ConfiguredChannel) => {
  if (!credentials) return {}
  const isNone = Object.keys(credentials).length === 0
  return { credentials: isNone ? null : sealer.seal(JSON.stringify(credentials), channelCredentialsRow(id)) }
}

/** What the audit keeps: names, and no value. */
const traceOf = ({ channel, routing_key, sender_policy, status, credential_names }: ChannelConnection) => ({
  ...{ channel, routing_key, sender_policy, status },
  credentials: credential_names,
})

const checkEffects = ({ connection, isDue }: ConfiguredChannel, check: Work | undefined, now: Date): Effects =>
  isDue ? checkNow(connection, check, now) : {}

const resultOf = (connection: ChannelConnection, effects: Effects): HandlerResult<{ connection: ReturnType<typeof view> }> => ({
  reply: { connection: view(connection) },
  effects,
  refId: connection.id,
  auditDetail: traceOf(connection),
})
const view = channelConnectionView

const setupOf = ({ identity: { publicUrl } }: ChannelParts, { channel, routing_key: routingKey, config }: ChannelConnection) =>
  channelSetup({ channel, publicUrl, routingKey, config })

const adapterView = ({ channels, identity: { publicUrl } }: ChannelParts, channel: Channel, configured: boolean) => {
  const { credentials = {}, config = {} } = channels[channel]?.fields ?? {}
  const known = { ...config, ...COMMON_CONFIG }
  return {
    ...{ channel, configured },
    credentials: Object.entries(credentials).map(([name, { needed, description }]) => ({ name, needed, description })),
    config: Object.entries(known).map(([name, { description }]) => ({ name, description })),
    setup: channelSetup({ channel, publicUrl }),
  }
}

const isSignedInOwner = ({ principal, job }: CommandContext): boolean =>
  job === undefined && principal.kind === 'session' && roleOf(principal) === 'owner'

/** Throws `forbidden`: whoever connects channels does not thereby decide that people outside are served, or answered unread. */
const requireMayOpen = (context: CommandContext, before: Open, after: Open): void => {
  const { toAnyone, unread } = openedBy(before, after)
  if (unread && !isSignedInOwner(context))
    fail('forbidden', 'config.reply: only an owner who has signed in can let answers go to people outside that nobody has read')
  if (toAnyone && roleOf(context.principal) !== 'owner')
    fail('forbidden', 'senderPolicy: only an owner can open a channel to people outside the workspace')
}

type Open = Parameters<typeof openedBy>[0]

type All = Handlers<typeof channels>

const creating = (parts: ChannelParts): All['create'] => ({
  async prepare({ channel, routingKey }, { tenantId }) {
    // The letter sees its own workspace alone.
    const adapter = parts.channels[channel]
    const named = adapter?.routingKeyOf(routingKey.trim())
    const routes = named && 'key' in named ? await channelRoutes(parts.db, channel, [named.key]) : []
    const isTaken = routes.some(({ tenant_id }) => tenant_id !== tenantId)
    return loading(
      () => ({ count: channelConnectionCount, same: channelConnectionOfKey(channel, named && 'key' in named ? named.key : '') }),
      (input, context, { count, same }) => {
        const { now } = context.gate
        const adapter = adapterOf(parts, channel)
        const key = keyOf(adapter, input.routingKey)
        requireConfig(adapter, input.config ?? {})
        if (same) fail('conflict', `this ${channel} channel is connected already: ${same.id}`)
        if (isTaken) fail('conflict', `another workspace has connected this ${channel} channel`)
        const given = { ...input, id: newId(), routingKey: key }
        const made = newChannelConnection(given, { known: adapter.fields, ...count, now })
        requireMayOpen(context, CLOSED, made.connection)
        const writes = [insertChannelConnection(made.connection, sealedOf(parts, made))]
        const { reply, ...rest } = resultOf(made.connection, merge({ writes }, checkEffects(made, undefined, now)))
        return { reply: { ...reply, setup: setupOf(parts, made.connection) }, ...rest }
      },
    )
  },
})

const updating = (parts: ChannelParts): All['update'] =>
  loading(
    (input) => ({
      ...{ ...before(input), ...checkOf(input), sealed: channelCredentialsPart(input.id) },
      linked: when(input.credentials !== undefined, identityCount(input.id)),
    }),
    ({ id, ...patch }, context, { before, check, sealed, linked }) => {
      const { now } = context.gate
      const connection = the(before)
      const adapter = adapterOf(parts, connection.channel)
      const credentials = credentialsOf(parts.sealer, id, sealed!)
      const changed = updateChannelConnection(connection, patch, { known: adapter.fields, credentials, now })
      if (patch.config) requireConfig(adapter, changed.connection.config)
      requireMayOpen(context, connection, changed.connection)
      // Whoever sets what a channel's posts are signed with can write as any linked sender.
      const isUnlinked = isRekeyed(credentials, changed.credentials) && !isSignedInOwner(context)
      const endedIdentities = isUnlinked ? linked!.total : 0
      const writes = [saveChannelConnection(changed.connection, sealedOf(parts, changed)), ...(isUnlinked ? unlinkAll(id) : [])]
      const { reply, auditDetail, ...rest } = resultOf(changed.connection, merge({ writes }, checkEffects(changed, check, now)))
      return { ...rest, reply: { ...reply, endedIdentities }, auditDetail: { ...auditDetail, ended_identities: endedIdentities } }
    },
  )

const inFlight = (replies: readonly ChannelReply[]) =>
  replies.map(({ id, updated_at }) => ({ reply_id: id, origin: 'manual' as const, since: updated_at }))

export const channelHandlers = (parts: ChannelParts): All => ({
  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, routed } = await loadBy(read, { rows: channelConnections(page), routed: routedChannels })
    const { rows: connections, next_cursor } = pageResult(rows, page.limit)
    const isRouted = (one: Channel) => routed.some(({ channel }) => channel === one)
    const adapters = channelNames.map((one) => adapterView(parts, one, isRouted(one)))
    return { connections: connections.map(view), nextCursor: next_cursor, adapters }
  },

  async get({ id }, { read }) {
    const connection = the((await loadBy(read, before({ id }))).before)
    return { connection: view(connection), setup: setupOf(parts, connection) }
  },

  create: creating(parts),

  update: updating(parts),

  check: loading(
    (input) => ({ ...before(input), ...checkOf(input) }),
    (_, { gate: { now } }, { before, check }) => {
      const connection = the(before)
      const missing = missingCredentials(adapterOf(parts, connection.channel).fields, connection.credential_names)
      if (missing !== null) fail('conflict', `cannot check: ${missing}`)
      return resultOf(connection, checkNow(connection, check, now))
    },
  ),

  remove: loading(
    (input) => ({ ...before(input), ...checkOf(input), replies: waitingReplies(input.id), sending: sendingReplies(input.id) }),
    ({ id }, { lanes, gate }, { before, check, replies, sending }) => {
      const connection = the(before)
      // What is not on the wire yet is not sent any more.
      const recalled = lanes.recall(sendsFor(id)).map(({ ref_id }) => ref_id)
      const left = sending.filter((reply) => !recalled.includes(reply.id))
      const kept = left.map((reply) => saveReply(disconnected(reply, gate.now), connection.channel))
      const writes = [...kept, deleteChannelConnection(id), deleteChannelRoutes(connection)]
      const { reply, ...result } = resultOf(connection, {
        writes,
        settled: [...(check?.state === 'queued' ? [check.id] : []), ...replies.map(({ work }) => work)],
      })
      return { ...result, reply: { ...reply, in_flight: inFlight(left) } }
    },
  ),
})
