/**
 * What happens to a connection of a channel: its decrypted credentials, when its provider is asked,
 * and who is told when it fails.
 */
import type { ChannelConnection } from '#domain/agent/channel/channel'
import type { Credentials } from '#domain/agent/channel/connection'
import { markRefused, sendRefused } from '#domain/agent/channel/connection-health'
import type { Sealer } from '#kernel/sealer'
import type { OpenConnection } from '#port/channel/channel'
import {
  channelCredentialsRow,
  deleteChannelRoutes,
  saveChannelConnection,
} from '#store/agent/channel-connections'
import { type Effects, merge } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { newWork } from '../work.ts'

/** A connection with its sealed credentials, in base64. */
export interface SealedConnection {
  connection: Pick<ChannelConnection, 'id' | 'routing_key' | 'config'>
  sealed: { credentials: string | null }
}

/** Throws if the credentials were sealed by another deployment. */
export const credentialsOf = (
  sealer: Sealer,
  id: string,
  { credentials }: SealedConnection['sealed'],
): Credentials =>
  credentials === null
    ? {}
    : JSON.parse(sealer.open(Buffer.from(credentials, 'base64'), channelCredentialsRow(id)))

/** For adapters only: never logged, stored or shown. */
export const openConnection = (
  sealer: Sealer,
  { connection, sealed }: SealedConnection,
): OpenConnection => ({
  id: connection.id,
  routingKey: connection.routing_key,
  config: connection.config,
  credentials: credentialsOf(sealer, connection.id, sealed),
})

/**
 * Asks its provider now. A check that is already running starts again by itself if what it checks
 * has changed.
 */
export const checkNow = (
  { id }: Pick<ChannelConnection, 'id'>,
  check: Work | undefined,
  now: Date,
): Effects => {
  if (check?.state === 'running') return {}
  if (check) return { requeued: [{ id: check.id, runAt: now, origin: 'manual', payload: {} }] }
  return { work: [newWork('channel_check', { refId: id, origin: 'manual', runAt: now })] }
}

const failingEvent = ({
  id,
  channel,
  routing_key,
  display_name,
  last_error,
}: ChannelConnection) => ({
  type: 'agent.channel.failing',
  data: { connection_id: id, channel, routing_key, display_name, error: last_error },
  subject: id,
})

/**
 * A failure is reported once, when it begins. A connection whose checks pass but whose messages are
 * refused keeps failing until a message is sent.
 */
const tellOnce = (before: ChannelConnection, after: ChannelConnection): Effects =>
  before.status === 'failing' || before.send_error !== null ? {} : { events: [failingEvent(after)] }

/**
 * Its provider refused it in a check, or another workspace has its key: it accepts no more
 * messages.
 */
export const checkRefused = (before: ChannelConnection, error: string, now: Date): Effects => {
  const after = markRefused(before, error, now)
  return merge(tellOnce(before, after), {
    writes: [saveChannelConnection(after), deleteChannelRoutes(after)],
  })
}

/**
 * Its provider refused to send anything with these credentials. It is asked at once whether they
 * are still valid.
 */
export const sendingRefused = (
  before: ChannelConnection,
  error: string,
  check: Work | undefined,
  now: Date,
): Effects => {
  const after = sendRefused(before, error, now)
  return merge(
    tellOnce(before, after),
    { writes: [saveChannelConnection(after)] },
    checkNow(after, check, now),
  )
}
