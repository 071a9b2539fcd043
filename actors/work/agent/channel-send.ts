/**
 * What sending a reply needs outside letters: its parts are formed, and each becomes one request.
 */
import { openConnection } from '#decisions/agent/channel-connections'
import type { Channel, ChannelConnection } from '#domain/agent/channel/channel'
import { type MessageParts, plainPartsOf } from '#domain/agent/channel/forms/parts'
import { MASKED_CODE } from '#domain/agent/channel/identity'
import type { ChannelReply } from '#domain/agent/channel/reply'
import { nameOfPart } from '#domain/agent/channel/reply-decisions'
import type { PartOutcome } from '#domain/agent/channel/reply-sending'
import { AppError } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import type { FairLimit } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'
import type { Sealer } from '#kernel/sealer'
import type { ChannelAdapter, Outgoing } from '#port/channel/channel'
import type { ChannelAdapters } from '#port/channel/registry'
import type { Texts } from '#port/texts/texts'
import { replySecretRow, type Unshown } from '#store/agent/channel-replies'
import type { LaneContext } from '../../engine/lane.ts'

export interface ReplyDeps {
  adapters: ChannelAdapters
  sealer: Sealer
  failpoints: Failpoints
  log: Log
  texts: Texts
  /** Requests of this process, granted to workspaces round-robin. */
  open: FairLimit
}

export interface Sending {
  kind: 'send'
  reply: ChannelReply
  part: number
  adapter: ChannelAdapter
  connection: ChannelConnection
  sealed: { credentials: string | null }
  unshown: Unshown
}

/** Turns its text into parts, off the mailbox and the event loop. */
export interface Forming {
  kind: 'form'
  reply: ChannelReply
  channel: Channel
}

/** `stopped`: the server is stopping, and the parts will be formed again. */
type Formed = { kind: 'formed'; parts: MessageParts } | { kind: 'stopped' }

const SEND_MS = 30_000
/** Includes waiting for a turn among the process's requests. */
export const LEASE_MS = 120_000
const MARGIN_MS = 10_000

/** If a text cannot be put into the channel's form, or not in time, it is sent as written. */
export const form = async (
  deps: ReplyDeps,
  { reply, channel }: Forming,
  { tenantId, signal }: LaneContext,
): Promise<Formed> => {
  const { texts, failpoints, log } = deps
  await failpoints('channel.reply.forming')
  try {
    const parts = await texts.compute(
      tenantId,
      { name: 'partsOf', input: [channel, reply.text] },
      signal,
    )
    if (parts.texts.length > 0) return { kind: 'formed', parts }
  } catch (cause) {
    if (signal.aborted) return { kind: 'stopped' }
    log.warn(
      { err: cause, reply: reply.id, channel },
      'a reply cannot be put into the form of its channel: it goes out as plain text',
    )
  }
  return { kind: 'formed', parts: plainPartsOf(channel, reply.text) }
}

/** Makes one request, unless it would outlast the claim or its turn did not come in time. */
export const sendPart = async (
  deps: ReplyDeps,
  job: Sending,
  context: LaneContext,
): Promise<PartOutcome> => {
  await deps.failpoints('channel.reply.claimed')
  try {
    return await deps.open.run(context.tenantId, () => sendNow(deps, job, context))
  } catch (cause) {
    if (cause instanceof AppError) return { kind: 'stopped' }
    throw cause
  }
}

const sendNow = async (
  deps: ReplyDeps,
  job: Sending,
  context: LaneContext,
): Promise<PartOutcome> => {
  const { reply, part, adapter, connection, sealed } = job
  const said = saidIn(deps, job)
  if (context.elapsed() > LEASE_MS - SEND_MS - MARGIN_MS) return { kind: 'stopped' }
  const opened = openedOf(deps, { connection, sealed })
  if (!opened || !said)
    return {
      kind: 'refused',
      of: 'connection',
      error: 'the credentials cannot be read; give them again',
    }
  await deps.failpoints('channel.reply.sending')
  if (!context.commit()) return { kind: 'stopped' }
  const message = { id: nameOfPart(reply, part), replyTo: reply.reply_to, ...said, part }
  const outcome = await inTime(
    adapter.send(opened, message, AbortSignal.any([context.signal, AbortSignal.timeout(SEND_MS)])),
  )
  await deps.failpoints('channel.reply.sent')
  return outcome
}

/** The text of a part. Undefined if its secret was sealed by another deployment. */
const saidIn = (
  { sealer, log }: ReplyDeps,
  { reply, part, unshown: { secret, html } }: Sending,
): Pick<Outgoing, 'text' | 'html'> | undefined => {
  const said = { text: reply.parts[part]!.text, html: html?.[part] }
  if (secret === null) return said
  try {
    const value = sealer.open(Buffer.from(secret, 'base64'), replySecretRow(reply.id))
    return {
      text: said.text.replaceAll(MASKED_CODE, value),
      html: said.html?.replaceAll(MASKED_CODE, value),
    }
  } catch (cause) {
    log.error({ err: cause, reply: reply.id }, 'the secret of a reply cannot be opened')
    return undefined
  }
}

const openedOf = ({ sealer, log }: ReplyDeps, of: Parameters<typeof openConnection>[1]) => {
  try {
    return openConnection(sealer, of)
  } catch (cause) {
    log.error(
      { err: cause, connection: of.connection.id },
      'the credentials of a channel cannot be opened',
    )
    return undefined
  }
}

/** If an adapter fails, or does not answer in time, the message may or may not have been sent. */
const inTime = async (sending: Promise<PartOutcome>): Promise<PartOutcome> => {
  const { promise: late, resolve } = Promise.withResolvers<PartOutcome>()
  const timer = setTimeout(
    () => resolve({ kind: 'unknown', error: 'the provider did not answer in time' }),
    SEND_MS + MARGIN_MS / 2,
  )
  const failed = sending.catch(
    (): PartOutcome => ({ kind: 'unknown', error: 'the request failed in an unknown way' }),
  )
  try {
    return await Promise.race([failed, late])
  } finally {
    clearTimeout(timer)
  }
}
