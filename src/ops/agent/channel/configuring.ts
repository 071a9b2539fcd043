/** Connecting a channel, and changing how it is configured. */
import type { channels } from '#contract/agent/channels'
import { checkNow, credentialsOf } from '#decisions/agent/channel-connections'
import {
  type ConfiguredChannel,
  isRekeyed,
  newChannelConnection,
  updateChannelConnection,
} from '#domain/agent/channel/connection'
import { CLOSED, commonConfigError, openedBy } from '#domain/agent/channel/trust'
import { fail, refuseField } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { ChannelAdapter } from '#port/channel/channel'
import {
  channelConnectionCount,
  channelConnectionOfKey,
  channelCredentialsPart,
  channelCredentialsRow,
  channelRoutes,
  insertChannelConnection,
  saveChannelConnection,
} from '#store/agent/channel-connections'
import { identityCount, unlinkAll } from '#store/agent/channel-identities'
import { type Effects, merge } from '#store/engine/letter'
import { when } from '#store/engine/load'
import { roleOf } from '#store/engine/principal'
import type { Work } from '#store/engine/work'
import type { CommandContext, Handlers } from '../../engine/call.ts'
import { loading } from '../../engine/loading.ts'
import {
  adapterOf,
  type ConnectionParts,
  checkOf,
  loadConnection,
  requireChannelConnection,
  resultOf,
  setupOf,
} from './connection.ts'

type All = Handlers<typeof channels>

/** Throws `invalid_input`. */
const keyOf = (adapter: ChannelAdapter, text: string): string => {
  const named = adapter.routingKeyOf(text.trim())
  return 'key' in named ? named.key : refuseField('routingKey', named.error)
}

/** Throws `invalid_input`. */
const requireConfig = (adapter: ChannelAdapter, config: Record<string, unknown>): void => {
  const error = commonConfigError(config) ?? adapter.configError(config)
  if (error === undefined) return
  const [, path = 'config', message = error] = /^(config\.\w+) (.+)$/s.exec(error) ?? []
  refuseField(path, message)
}

/** The sealed values, if they change. */
const sealedOf = (
  { sealer }: ConnectionParts,
  { connection: { id }, credentials }: ConfiguredChannel,
) => {
  if (!credentials) return {}
  const isNone = Object.keys(credentials).length === 0
  return {
    credentials: isNone
      ? null
      : sealer.seal(JSON.stringify(credentials), channelCredentialsRow(id)),
  }
}

const checkEffects = (
  { connection, isDue }: ConfiguredChannel,
  check: Work | undefined,
  now: Date,
): Effects => (isDue ? checkNow(connection, check, now) : {})

const isSignedInOwner = ({ principal, job }: CommandContext): boolean =>
  job === undefined && principal.kind === 'session' && roleOf(principal) === 'owner'

/**
 * Throws `forbidden`: permission to connect channels does not include serving outsiders, or
 * answering them without review.
 */
const requireMayOpen = (context: CommandContext, before: Open, after: Open): void => {
  const { toAnyone, unread } = openedBy(before, after)
  if (unread && !isSignedInOwner(context))
    fail(
      'forbidden',
      'config.reply: only an owner who has signed in can let answers go to people outside that nobody has read',
    )
  if (toAnyone && roleOf(context.principal) !== 'owner')
    fail(
      'forbidden',
      'senderPolicy: only an owner can open a channel to people outside the workspace',
    )
}

type Open = Parameters<typeof openedBy>[0]

export const create = (parts: ConnectionParts): All['create'] => ({
  async prepare({ channel, routingKey }, { tenantId }) {
    // The letter reads only its own workspace, so look for the key in others here.
    const adapter = parts.channels[channel]
    const named = adapter?.routingKeyOf(routingKey.trim())
    const routes =
      named && 'key' in named ? await channelRoutes(parts.db, channel, [named.key]) : []
    const isTaken = routes.some(({ tenant_id }) => tenant_id !== tenantId)
    return loading(
      () => ({
        count: channelConnectionCount,
        same: channelConnectionOfKey(channel, named && 'key' in named ? named.key : ''),
      }),
      (input, context, { count, same }) => {
        const { now } = context.gate
        const adapter = adapterOf(parts, channel)
        const key = keyOf(adapter, input.routingKey)
        requireConfig(adapter, input.config ?? {})
        if (same)
          fail('conflict', `this ${channel} channel is connected already: ${same.id}`, {
            reason: 'duplicate',
          })
        if (isTaken)
          fail('conflict', `another workspace has connected this ${channel} channel`, {
            reason: 'duplicate',
          })
        const given = { ...input, id: newId(), routingKey: key }
        const made = newChannelConnection(given, { known: adapter.fields, ...count, now })
        requireMayOpen(context, CLOSED, made.connection)
        const writes = [insertChannelConnection(made.connection, sealedOf(parts, made))]
        const { reply, ...rest } = resultOf(
          made.connection,
          merge({ writes }, checkEffects(made, undefined, now)),
        )
        return { reply: { ...reply, setup: setupOf(parts, made.connection) }, ...rest }
      },
    )
  },
})

export const update = (parts: ConnectionParts): All['update'] =>
  loading(
    (input) => ({
      ...loadConnection(input),
      ...checkOf(input),
      sealed: channelCredentialsPart(input.id),
      linked: when(input.credentials !== undefined, identityCount(input.id)),
    }),
    ({ id, ...patch }, context, { before, check, sealed, linked }) => {
      const { now } = context.gate
      const connection = requireChannelConnection(before)
      const adapter = adapterOf(parts, connection.channel)
      const credentials = credentialsOf(parts.sealer, id, sealed!)
      const changed = updateChannelConnection(connection, patch, {
        known: adapter.fields,
        credentials,
        now,
      })
      if (patch.config) requireConfig(adapter, changed.connection.config)
      requireMayOpen(context, connection, changed.connection)
      // Anybody who sets the secret that signs a channel's posts can write as any linked sender.
      const isUnlinked = isRekeyed(credentials, changed.credentials) && !isSignedInOwner(context)
      const endedIdentities = isUnlinked ? linked!.total : 0
      const writes = [
        saveChannelConnection(changed.connection, sealedOf(parts, changed)),
        ...(isUnlinked ? unlinkAll(id) : []),
      ]
      const { reply, auditDetail, ...rest } = resultOf(
        changed.connection,
        merge({ writes }, checkEffects(changed, check, now)),
      )
      return {
        ...rest,
        reply: { ...reply, endedIdentities },
        auditDetail: { ...auditDetail, ended_identities: endedIdentities },
      }
    },
  )
