/** The connections that a post to a channel is for: those that signed it. */
import { openConnection } from '#decisions/agent/channel-connections'
import type { Channel } from '#domain/agent/channel/channel'
import { newId } from '#kernel/ids'
import type { Log } from '#kernel/log'
import type { Sealer } from '#kernel/sealer'
import type { InboundPost, OpenConnection } from '#port/channel/channel'
import type { ChannelAdapters } from '#port/channel/registry'
import { newWebhookSecret } from '#port/webhook'
import {
  type ChannelRoute,
  channelConnectionPart,
  channelCredentialsPart,
  channelCredentialsRow,
  nobodysConnection,
} from '#store/agent/channel-connections'
import type { Db } from '#store/engine/db'
import { loadBy } from '#store/engine/load'

export interface SignatureDeps {
  db: Db
  sealer: Sealer
  channels: ChannelAdapters
  log: Log
}

/** How many of them are looked at, because a mail may be for many people other than us. */
const MOST_LOOKED_AT = 20

/**
 * A connection that does not exist. It is checked for posts that name none, so that refusing them
 * takes as long as refusing others.
 */
const NOBODY = {
  tenantId: '00000000-0000-0000-0000-000000000000',
  id: newId(),
  secret: newWebhookSecret(),
}

/** Its credentials, sealed like those of real connections. */
const nobodys = ({ sealer, channels }: SignatureDeps): Nobodys =>
  Object.fromEntries(
    Object.values(channels).map(({ channel, fields }) => {
      const credentials = Object.fromEntries(
        Object.keys(fields.credentials).map((name) => [name, NOBODY.secret]),
      )
      return [
        channel,
        sealer
          .seal(JSON.stringify(credentials), channelCredentialsRow(NOBODY.id))
          .toString('base64'),
      ]
    }),
  )

type Nobodys = Partial<Record<Channel, string>>

interface Verifying extends SignatureDeps {
  nobodys: Nobodys
}

export interface Addressed {
  tenantId: string
  open: OpenConnection
  isReal: boolean
}

/** A connection with its credentials, or the one that does not exist. */
const openAddressed = async (
  deps: Verifying,
  channel: Channel,
  route: ChannelRoute | undefined,
): Promise<Addressed> => {
  const { db, sealer, log } = deps
  const { tenant_id: tenantId, connection_id: id } = route ?? {
    tenant_id: NOBODY.tenantId,
    connection_id: NOBODY.id,
  }
  const nobody = nobodysConnection(NOBODY.id, deps.nobodys[channel]!)
  const parts = route
    ? { connection: channelConnectionPart(id), sealed: channelCredentialsPart(id) }
    : nobody
  const { connection, sealed } = await loadBy((query) => db.read({ tenantId }, query), parts)
  // It may have been deleted in the meantime.
  if (!connection || !sealed) return openAddressed(deps, channel, undefined)
  try {
    return {
      tenantId,
      open: openConnection(sealer, { connection, sealed }),
      isReal: route !== undefined,
    }
  } catch (cause) {
    log.error(
      { err: cause, workspace: tenantId, connection: id },
      'the credentials of a channel could not be opened',
    )
    return openAddressed(deps, channel, undefined)
  }
}

/**
 * The connections that a post names and that signed it, the likeliest first. An unknown routing key
 * takes as much work as a known one.
 */
const verifyPost = async (
  deps: Verifying,
  channel: Channel,
  { keys, routes }: { keys: string[]; routes: ChannelRoute[] },
  post: InboundPost,
): Promise<Addressed[]> => {
  const byKey = new Map(routes.map((route) => [route.key, route]))
  const routedFirst = [
    ...keys.filter((key) => byKey.has(key)),
    ...keys.filter((key) => !byKey.has(key)),
  ]
  const looked = keys.length > 0 ? routedFirst.slice(0, MOST_LOOKED_AT) : ['']
  const named = await Promise.all(looked.map((key) => openAddressed(deps, channel, byKey.get(key))))
  return named.filter(({ open, isReal }) => deps.channels[channel]!.verify(post, open) && isReal)
}

export type Verify = (
  channel: Channel,
  named: { keys: string[]; routes: ChannelRoute[] },
  post: InboundPost,
) => Promise<Addressed[]>

export const verifier = (deps: SignatureDeps): Verify => {
  const verifying = { ...deps, nobodys: nobodys(deps) }
  return (channel, named, post) => verifyPost(verifying, channel, named, post)
}
