/** Where providers of channels post what people write. Each post is verified by its raw bytes before anything of it is believed. */
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { arrivedOf } from '#decisions/agent/channel-bounds'
import { openConnection } from '#decisions/agent/channel-connections'
import { type Channel, isChannel } from '#domain/agent/channel/channel'
import type { ArrivedMessage } from '#domain/agent/channel/message'
import { partNamed } from '#domain/agent/channel/undelivered'
import { AppError, fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { Log } from '#kernel/log'
import { type Operation, workspaceOperations } from '#ops/engine/bind'
import type { ChannelAdapter, InboundPost, OpenConnection } from '#port/channel/channel'
import type { ChannelAdapters } from '#port/channel/registry'
import { newWebhookSecret } from '#port/webhook'
import {
  type ChannelRoute,
  channelConnectionPart,
  channelCredentialsPart,
  channelCredentialsRow,
  channelRoutes,
  isChallengeRouted,
  isChannelRouted,
  nobodysConnection,
} from '#store/agent/channel-connections'
import { loadBy } from '#store/engine/load'
import type { Incoming } from '../incoming.ts'
import { answerResponse, errorResponse, requestIdOf, textResponse } from '../respond.ts'
import type { Route } from '../route.ts'
import { callFrom, type InboundDeps } from './inbound.ts'

export interface ChannelDeps extends InboundDeps {
  channels: ChannelAdapters
  /** Without a trailing slash. Some providers sign it. */
  publicUrl: string
  log: Log
}

const POST_BYTES = 1_048_576
/** Routing keys that one post can name. */
const MOST_KEYS = 100
/** Those of them that are looked at: a mail may be for many people beside us. */
const MOST_LOOKED_AT = 20
/** Conversations of one post whose messages are taken at once. */
const AT_ONCE = 8
/** Before a provider tries again where nobody has connected its channel. In seconds. */
const UNCONFIGURED_RETRY_S = 300

/** The same for a routing key that nobody has as for a signature that is wrong. */
const refuse = (): never => fail('unauthenticated', 'no channel has this routing key and signature')

/** A connection for posts that name none, so that they take as long to refuse as others. */
const NOBODY = { tenantId: '00000000-0000-0000-0000-000000000000', id: newId(), secret: newWebhookSecret() }

/** Sealed as those of others are. */
const nobodys = ({ sealer, channels }: ChannelDeps): Nobodys =>
  Object.fromEntries(
    Object.values(channels).map(({ channel, fields }) => {
      const credentials = Object.fromEntries(Object.keys(fields.credentials).map((name) => [name, NOBODY.secret]))
      return [channel, sealer.seal(JSON.stringify(credentials), channelCredentialsRow(NOBODY.id)).toString('base64')]
    }),
  )

type Nobodys = Partial<Record<Channel, string>>

interface Receiving extends ChannelDeps {
  operation: Operation
  undelivered: Operation
  nobodys: Nobodys
}

interface Addressed {
  tenantId: string
  open: OpenConnection
  isReal: boolean
}

/** A connection with its credentials, or that of nobody. */
const addressed = async (deps: Receiving, channel: Channel, route: ChannelRoute | undefined): Promise<Addressed> => {
  const { db, sealer, log } = deps
  const { tenant_id: tenantId, connection_id: id } = route ?? { tenant_id: NOBODY.tenantId, connection_id: NOBODY.id }
  const nobody = nobodysConnection(NOBODY.id, deps.nobodys[channel]!)
  const parts = route ? { connection: channelConnectionPart(id), sealed: channelCredentialsPart(id) } : nobody
  const { connection, sealed } = await loadBy((query) => db.read({ tenantId }, query), parts)
  // It may have been deleted meanwhile.
  if (!connection || !sealed) return addressed(deps, channel, undefined)
  try {
    return { tenantId, open: openConnection(sealer, { connection, sealed }), isReal: route !== undefined }
  } catch (cause) {
    log.error({ err: cause, workspace: tenantId, connection: id }, 'the credentials of a channel could not be opened')
    return addressed(deps, channel, undefined)
  }
}

/**
 * The connections that a post names, the likeliest first, as far as it carries their signatures. As much is done for a routing key that nobody
 * has as for another.
 */
const verified = async (
  deps: Receiving,
  channel: Channel,
  { keys, routes }: { keys: string[]; routes: ChannelRoute[] },
  post: InboundPost,
) => {
  const byKey = new Map(routes.map((route) => [route.key, route]))
  const routedFirst = [...keys.filter((key) => byKey.has(key)), ...keys.filter((key) => !byKey.has(key))]
  const looked = keys.length > 0 ? routedFirst.slice(0, MOST_LOOKED_AT) : ['']
  const named = await Promise.all(looked.map((key) => addressed(deps, channel, byKey.get(key))))
  return named.filter(({ open, isReal }) => deps.channels[channel]!.verify(post, open) && isReal)
}

interface Taking extends Addressed {
  message: ArrivedMessage
}

/** Every message once, although several of the connections may be shown it. */
const messagesOf = (adapter: ChannelAdapter, connections: readonly Addressed[], post: InboundPost): Taking[] => {
  const seen = new Set<string>()
  return connections.flatMap((one) =>
    adapter.read(post, one.open).flatMap((read) => {
      const message = arrivedOf(read)
      if (!message || message.eventIds.some((id) => seen.has(id))) return []
      for (const id of message.eventIds) seen.add(id)
      return [{ ...one, message }]
    }),
  )
}

/** `gone`: the connection, since it was looked for. */
type Taken = { outcome: 'taken' | 'known' | 'declined' | 'gone'; retryAfter: 0 } | { outcome: 'later'; retryAfter: number }

const unlessGone = async <T>(run: () => Promise<{ body: string }>): Promise<T | { outcome: 'gone'; retryAfter: 0 }> => {
  try {
    return JSON.parse((await run()).body) as T
  } catch (cause) {
    if (cause instanceof AppError && cause.code === 'not_found') return { outcome: 'gone', retryAfter: 0 }
    throw cause
  }
}

const take = (operation: Operation, { tenantId, open, message }: Taking, incoming: Incoming): Promise<Taken> =>
  unlessGone<Taken>(() => operation.run(() => ({ id: open.id, message }), callFrom(tenantId, incoming)))

/** Messages of one thread are taken one after the other; none after one that came too soon. */
const takeAll = async (all: readonly Taking[], takeOne: (taking: Taking) => Promise<Taken>): Promise<Taken[]> => {
  const threads = [...Map.groupBy(all, ({ open, message }) => JSON.stringify([open.id, message.thread])).values()]
  const results: Taken[] = []
  const next = async (): Promise<void> => {
    for (let thread = threads.shift(); thread; thread = threads.shift())
      for (const taking of thread) {
        if (results.some(({ outcome }) => outcome === 'later')) return
        results.push(await takeOne(taking))
      }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
  return results
}

/** In one letter. */
const MOST_UNDELIVERED = 100

/** Messages of ours that did not arrive. Those that another program sent under this key have no name of ours. */
const noteUndelivered = async (deps: Receiving, { tenantId, open }: Addressed, post: InboundPost, incoming: Incoming): Promise<Taken[]> => {
  const told = deps.channels[channelOf(incoming)]!.undelivered?.(post, open) ?? []
  const messages = told.flatMap(({ id, externalId, error }) => {
    const named = partNamed(id)
    return named ? [{ ...named, externalId, error }] : []
  })
  const results: Taken[] = []
  for (let from = 0; from < messages.length; from += MOST_UNDELIVERED) {
    const input = { id: open.id, messages: messages.slice(from, from + MOST_UNDELIVERED) }
    const answer = await unlessGone<{ outcome: 'noted' | 'known' | 'later'; retryAfter: number }>(() =>
      deps.undelivered.run(() => input, callFrom(tenantId, incoming)),
    )
    const { outcome, retryAfter } = answer
    if (outcome === 'later') results.push({ outcome, retryAfter })
    else results.push({ outcome: outcome === 'gone' ? 'gone' : 'known', retryAfter: 0 })
  }
  return results
}

const later = (seconds: number, requestId: string): Response =>
  errorResponse(new AppError('unavailable', 'too many messages; send it again later', { retryAfter: seconds }), requestId)

const RECEIVED = JSON.stringify({ received: true })
/** Twilio takes an answer for instructions, and warns of one that has none in its form. */
const NO_INSTRUCTIONS = '<?xml version="1.0" encoding="UTF-8"?><Response/>'

const acknowledged = (channel: Channel, requestId: string): Response =>
  channel === 'sms' ? textResponse(NO_INSTRUCTIONS, 'text/xml', requestId) : answerResponse({ status: 200, body: RECEIVED }, requestId)

const unconfigured = (channel: Channel, requestId: string): Response =>
  errorResponse(new AppError('channel_unconfigured', channel, { retryAfter: UNCONFIGURED_RETRY_S }), requestId)

const postOf = ({ publicUrl, now }: ChannelDeps, { request }: Incoming, body: Uint8Array): InboundPost => {
  const { pathname, search } = new URL(request.url)
  return { url: `${publicUrl}${pathname}${search}`, headers: request.headers, body, now: now() }
}

const channelOf = ({ params }: Incoming): Channel => {
  const name = params?.channel ?? ''
  return isChannel(name) ? name : fail('not_found', 'no such channel')
}

const receive = async (deps: Receiving, incoming: Incoming): Promise<Response> => {
  const channel = channelOf(incoming)
  const requestId = requestIdOf(incoming.request)
  const adapter = deps.channels[channel]
  if (!adapter) return unconfigured(channel, requestId)
  const post = postOf(deps, incoming, await incoming.bytes({ limit: POST_BYTES }))
  const routed = adapter.route(post)
  if (routed.kind === 'handshake') return textResponse(routed.body, routed.contentType, requestId, routed.status)
  const keys = routed.kind === 'keys' ? [...new Set(routed.keys)].slice(0, MOST_KEYS) : []
  const [routes, isRouted] = await Promise.all([channelRoutes(deps.db, channel, keys), isChannelRouted(deps.db, channel)])
  if (!isRouted) return unconfigured(channel, requestId)
  const connections = await verified(deps, channel, { keys, routes }, post)
  if (connections.length === 0) return refuse()
  const flaw = adapter.flawOf?.(post)
  if (flaw !== undefined) return fail('invalid_input', flaw)
  const taken = await takeAll(messagesOf(adapter, connections, post), (one) => take(deps.operation, one, incoming))
  const noted = await Promise.all(connections.map((one) => noteUndelivered(deps, one, post, incoming)))
  return answerOf(channel, requestId, [...taken, ...noted.flat()])
}

const answerOf = (channel: Channel, requestId: string, results: readonly Taken[]): Response => {
  const waits = results.flatMap(({ outcome, retryAfter }) => (outcome === 'later' ? [retryAfter] : []))
  if (waits.length > 0) return later(Math.max(...waits), requestId)
  return results.length > 0 && results.every(({ outcome }) => outcome === 'gone') ? refuse() : acknowledged(channel, requestId)
}

const LONGEST_CHALLENGE = 1_000

/** Meta asks whether it was a workspace of this deployment that gave it the address. */
const challenge = async ({ db }: ChannelDeps, incoming: Incoming): Promise<Response> => {
  if (channelOf(incoming) !== 'whatsapp') return fail('method_not_allowed')
  const { searchParams } = new URL(incoming.request.url)
  const [mode, token, text] = ['mode', 'verify_token', 'challenge'].map((name) => searchParams.get(`hub.${name}`) ?? '')
  const hash = createHash('sha256').update(Buffer.from(token!)).digest('hex')
  const isOurs = await isChallengeRouted(db, hash)
  if (mode !== 'subscribe' || !isOurs || text === '' || text!.length > LONGEST_CHALLENGE)
    return fail('forbidden', 'no channel has this verify token')
  return textResponse(text!, 'text/plain; charset=utf-8', requestIdOf(incoming.request))
}

export const channelRoutesOf = (deps: ChannelDeps): Route[] => {
  const operations = workspaceOperations(deps.internal)
  const named = (name: string) => operations.find(({ id }) => id === `operator.inbound.${name}`)!
  const receiving = { ...deps, operation: named('channel'), undelivered: named('undelivered'), nobodys: nobodys(deps) }
  return [
    { method: 'POST', path: '/webhooks/channels/:channel', respond: (incoming) => receive(receiving, incoming) },
    { method: 'GET', path: '/webhooks/channels/:channel', respond: (incoming) => challenge(deps, incoming) },
  ]
}
