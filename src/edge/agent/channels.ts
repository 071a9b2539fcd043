/**
 * Where the providers of channels post what people write. Each post is verified by its raw bytes
 * before anything in it is believed.
 */
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { type Channel, isChannel } from '#domain/agent/channel/channel'
import { AppError, fail } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { type Operation, workspaceOperations } from '#ops/engine/bind'
import type { InboundPost } from '#port/channel/channel'
import type { ChannelAdapters } from '#port/channel/registry'
import { channelRoutes, isChallengeRouted, isChannelRouted } from '#store/agent/channel-connections'
import type { Incoming } from '../incoming.ts'
import { answerResponse, errorResponse, requestIdOf, textResponse } from '../respond.ts'
import type { Route } from '../route.ts'
import { type Taken, takeFrom } from './channel-messages.ts'
import { type Verify, verifier } from './channel-signatures.ts'
import type { InboundDeps } from './inbound.ts'

export interface ChannelDeps extends InboundDeps {
  channels: ChannelAdapters
  /** Without a trailing slash. Some providers include it in their signature. */
  publicUrl: string
  log: Log
}

const POST_BYTES = 1_048_576
/** How many routing keys a post may name. */
const MOST_KEYS = 100
/** If nobody has connected the channel, when the provider should try again. In seconds. */
const UNCONFIGURED_RETRY_S = 300

/** Refuses an unknown routing key with the same error as a wrong signature. */
const refuse = (): never => fail('unauthenticated', 'no channel has this routing key and signature')

interface Receiving extends ChannelDeps {
  verify: Verify
  takes: Record<'operation' | 'undelivered', Operation>
}

const later = (seconds: number, requestId: string): Response =>
  errorResponse(
    new AppError('unavailable', 'too many messages; send it again later', { retryAfter: seconds }),
    requestId,
  )

const RECEIVED = JSON.stringify({ received: true })
/** Twilio treats an answer as instructions, and warns about one that is not in its form. */
const NO_INSTRUCTIONS = '<?xml version="1.0" encoding="UTF-8"?><Response/>'

const acknowledge = (channel: Channel, requestId: string): Response =>
  channel === 'sms'
    ? textResponse(NO_INSTRUCTIONS, 'text/xml', requestId)
    : answerResponse({ status: 200, body: RECEIVED }, requestId)

const refuseUnconfigured = (channel: Channel, requestId: string): Response =>
  errorResponse(
    new AppError('channel_unconfigured', channel, { retryAfter: UNCONFIGURED_RETRY_S }),
    requestId,
  )

const postOf = (
  { publicUrl, now }: ChannelDeps,
  { request }: Incoming,
  body: Uint8Array,
): InboundPost => {
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
  if (!adapter) return refuseUnconfigured(channel, requestId)
  const post = postOf(deps, incoming, await incoming.bytes({ limit: POST_BYTES }))
  const routed = adapter.route(post)
  if (routed.kind === 'handshake')
    return textResponse(routed.body, routed.contentType, requestId, routed.status)
  const keys = routed.kind === 'keys' ? [...new Set(routed.keys)].slice(0, MOST_KEYS) : []
  const [routes, isRouted] = await Promise.all([
    channelRoutes(deps.db, channel, keys),
    isChannelRouted(deps.db, channel),
  ])
  if (!isRouted) return refuseUnconfigured(channel, requestId)
  const connections = await deps.verify(channel, { keys, routes }, post)
  if (connections.length === 0) return refuse()
  const flaw = adapter.flawOf?.(post)
  if (flaw !== undefined) return fail('invalid_input', flaw)
  return answerOf(
    channel,
    requestId,
    await takeFrom({ ...deps.takes, adapter, post, incoming }, connections),
  )
}

const answerOf = (channel: Channel, requestId: string, results: readonly Taken[]): Response => {
  const waits = results.flatMap(({ outcome, retryAfter }) =>
    outcome === 'later' ? [retryAfter] : [],
  )
  if (waits.length > 0) return later(Math.max(...waits), requestId)
  return results.length > 0 && results.every(({ outcome }) => outcome === 'gone')
    ? refuse()
    : acknowledge(channel, requestId)
}

const LONGEST_CHALLENGE = 1_000

/** Meta asks whether a workspace of this deployment gave it the address. */
const challenge = async ({ db }: ChannelDeps, incoming: Incoming): Promise<Response> => {
  if (channelOf(incoming) !== 'whatsapp') return fail('method_not_allowed')
  const { searchParams } = new URL(incoming.request.url)
  const [mode, token, text] = ['mode', 'verify_token', 'challenge'].map(
    (name) => searchParams.get(`hub.${name}`) ?? '',
  )
  const hash = createHash('sha256').update(Buffer.from(token!)).digest('hex')
  const isOurs = await isChallengeRouted(db, hash)
  if (mode !== 'subscribe' || !isOurs || text === '' || text!.length > LONGEST_CHALLENGE)
    return fail('forbidden', 'no channel has this verify token')
  return textResponse(text!, 'text/plain; charset=utf-8', requestIdOf(incoming.request))
}

export const channelRoutesOf = (deps: ChannelDeps): Route[] => {
  const operations = workspaceOperations(deps.internal)
  const named = (name: string) => operations.find(({ id }) => id === `operator.inbound.${name}`)!
  const takes = { operation: named('channel'), undelivered: named('undelivered') }
  const receiving = { ...deps, verify: verifier(deps), takes }
  return [
    {
      method: 'POST',
      path: '/webhooks/channels/:channel',
      respond: (incoming) => receive(receiving, incoming),
    },
    {
      method: 'GET',
      path: '/webhooks/channels/:channel',
      respond: (incoming) => challenge(deps, incoming),
    },
  ]
}
