/**
 * Decides what an incoming message of a channel leads to: a job, a line to its sender, or nothing.
 */

import type { PlanState } from '#contract/limits'
import { channelMessageRecord } from '#contract/records/agent/channel-message'
import { recipientOf } from '#domain/agent/channel/answer'
import type { ChannelConnection } from '#domain/agent/channel/channel'
import {
  type ArrivedMessage,
  type ChannelMessage,
  isToBeFetched,
  messageContent,
  STRANGERS_FILES,
  sortFiles,
} from '#domain/agent/channel/message'
import {
  hasRoomFor,
  hasRoomForMember,
  MEMBERS_ONLY,
  MOST_TOLD,
  NOT_NOW,
  type Trust,
  type Trusted,
  trustOf,
  USED_UP,
  unpaidText,
} from '#domain/agent/channel/trust'
import { chooseModel, type Models, type NO_MODEL } from '#domain/agent/job/model-choice'
import type { Role } from '#kernel/roles'
import type { Sealer } from '#kernel/sealer'
import {
  type ArrivalFacts,
  fetchesUpTo,
  insertArrival,
  insertChannelMessage,
  insertTold,
  receivedAt,
} from '#store/agent/channel-messages'
import type { Sql } from '#store/engine/db'
import { type Effects, merge } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import { newWork } from '../work.ts'
import { takeCode } from './channel-linking.ts'
import { replyEffects } from './channel-replies.ts'
import { startChannelTurn } from './channel-turns.ts'
import { type Takes, unpaidAnswer } from './paying.ts'

const arrivalLimits = {
  /** How many messages a connection, and one sender, may send within a minute. */
  ofConnection: 600,
  ofSender: 60,
  /**
   * The most messages of a workspace that are being fetched or wait for such room. Further ones
   * stay with the provider, if it retries.
   */
  waiting: 200,
} as const
const RATE_MS = 60_000
/** The periods over which messages are counted, and jobs that a sender or all strangers began. */
export const ARRIVAL_TIMES = { rateMs: RATE_MS, dayMs: 86_400_000 } as const
/** In seconds: when the agent may have room for another job. */
const FULL_RETRY_S = 30

interface Identity {
  id: string
  person_id: string
  role: Role
}

export interface Arrival {
  connection: ChannelConnection
  message: ChannelMessage
  identity: Identity | undefined
  facts: ArrivalFacts
  plan: Pick<PlanState, 'billing'>
  now: Date
}

/** The row of a message that has just arrived. */
export const newChannelMessage = (
  id: string,
  {
    sender,
    thread,
    isShared,
    subject,
    text,
    attachments,
    replyTo,
    directTo,
    toFetch,
  }: ArrivedMessage,
  { connection, identity, now }: Pick<Arrival, 'connection' | 'identity' | 'now'>,
): ChannelMessage => ({
  ...channelMessageRecord.blank,
  id,
  connection_id: connection.id,
  state: 'fetching',
  sender: sender.id,
  sender_name: sender.name,
  identity_id: identity?.id ?? null,
  thread,
  is_shared: isShared,
  subject,
  text,
  reply_to: replyTo,
  direct_to: directTo,
  to_fetch: toFetch,
  attachments: sortFiles(attachments, identity ? undefined : STRANGERS_FILES),
  created_at: now,
  updated_at: now,
})

/** Seconds until the oldest message no longer counts. */
const secondsUntil = (oldest: Date | null, now: Date): number =>
  Math.max(1, Math.ceil(((oldest ?? now).getTime() + RATE_MS - now.getTime()) / 1_000))

/** The seconds after which it may be sent again; undefined if it is not too early. */
export const tooSoon = ({ facts, now }: Pick<Arrival, 'facts' | 'now'>): number | undefined => {
  if (facts.of_connection >= arrivalLimits.ofConnection)
    return secondsUntil(facts.oldest_of_connection, now)
  return facts.of_sender >= arrivalLimits.ofSender
    ? secondsUntil(facts.oldest_of_sender, now)
    : undefined
}

const hasRoom = (
  trust: Trust,
  { connection, facts }: Pick<Arrival, 'connection' | 'facts'>,
): boolean =>
  trust.kind === 'member'
    ? hasRoomForMember(connection, facts.jobs_of_member)
    : hasRoomFor(
        { ofSender: facts.strangers_of_sender, ofConnection: facts.strangers_of_connection },
        connection.config,
      )

/** `message`: the row after the decision. `later`: the agent has too many open jobs. */
type Outcome =
  | { kind: 'taken'; job: string; message: ChannelMessage; effects: Effects }
  | { kind: 'fetching'; message: ChannelMessage; effects: Effects }
  /** `detail`: what the audit records about it. */
  | { kind: 'declined'; effects: Effects; detail?: Record<string, unknown> }
  | { kind: 'later' }

/** The audit records why. */
const decline = (why: string, effects: Effects = {}): Extract<Outcome, { kind: 'declined' }> => ({
  kind: 'declined',
  effects,
  detail: { why },
})

const NO_ROOM = 'the messages of a day are used up'

type Telling = Omit<Arrival, 'identity' | 'plan'>

/** People who are not served are told so once a day. */
const toldOnce = ({ connection, message, facts, now }: Telling, text: string): Effects => {
  if (facts.is_told) return {}
  const line = replyEffects({
    connection,
    replyTo: message.reply_to,
    recipient: recipientOf(message),
    text,
    now,
  })
  return merge(line, { writes: [insertTold({ source: connection.id, told: facts.told, now })] })
}

/** Members get few such lines, because few senders are linked. Those to strangers are limited. */
const strangerTold = (arrival: Telling, text: string): Effects =>
  arrival.facts.told_of_connection >= MOST_TOLD ? {} : toldOnce(arrival, text)

/** No model answers while it is not paid for. Strangers do not learn what the workspace owes. */
const unpaidFor = (trust: Trusted, why: string, arrival: Telling) =>
  decline(
    why,
    trust.kind === 'member' ? toldOnce(arrival, unpaidText(why)) : strangerTold(arrival, NOT_NOW),
  )

/** What a decision needs besides the message. */
export interface ArrivalContext {
  models: Models | typeof NO_MODEL
  desk: Takes
  sealer: Sealer
}

/** Decides a message that is complete. */
export const decideMessage = async (
  { models, desk, sealer }: ArrivalContext,
  { connection, message, identity, facts, plan, now }: Arrival,
  { sql }: { sql: Sql },
): Promise<Exclude<Outcome, { kind: 'fetching' }>> => {
  const telling = { connection, message, facts, now }
  const code = await takeCode({ connection, message, now }, { sql, sealer })
  if (code) return { kind: 'declined', ...code }
  const trust = trustOf(connection, { id: message.sender, identity })
  if (trust.kind === 'none')
    return decline('only members are served', strangerTold(telling, MEMBERS_ONLY))
  if (messageContent(message) === '') return decline('it is empty')
  const words = {
    model: chooseModel(undefined, models).model,
    goal: messageContent(message),
    on_behalf: trust.on_behalf,
  }
  const why = await unpaidAnswer(desk, plan, words)
  if (why !== undefined) return unpaidFor(trust, why, telling)
  if (!hasRoom(trust, { connection, facts }))
    return decline(NO_ROOM, trust.kind === 'member' ? toldOnce(telling, USED_UP) : {})
  const begun = await startChannelTurn(
    { models, desk },
    { connection, message, trust, now },
    { sql },
  )
  return begun
    ? { kind: 'taken', job: begun.job.id, message: begun.message, effects: begun.effects }
    : { kind: 'later' }
}

/** Nobody is told anything until the text has arrived: a machine may have written it. */
const fetchedLater = (arrival: Arrival): Outcome => {
  const { connection, message, identity, facts, now } = arrival
  const trust = trustOf(connection, { id: message.sender, identity })
  const isToBeTold = trust.kind === 'member' && !facts.is_told
  if (!hasRoom(trust, arrival) && !isToBeTold) return decline(NO_ROOM)
  const work = [newWork('channel_fetch', { refId: message.id, origin: 'manual', runAt: now })]
  return { kind: 'fetching', message, effects: { work } }
}

/**
 * The message is accepted anyway, because some providers hardly retry. It is decided when there may
 * be room.
 */
const waitingForRoom = async ({ message, now }: Arrival, sql: Sql): Promise<Outcome> => {
  const { waiting } = await loadNow(sql, { waiting: fetchesUpTo(arrivalLimits.waiting) })
  if (waiting.count >= arrivalLimits.waiting) return { kind: 'later' }
  const runAt = new Date(now.getTime() + FULL_RETRY_S * 1_000)
  return {
    kind: 'fetching',
    message,
    effects: { work: [newWork('channel_fetch', { refId: message.id, origin: 'manual', runAt })] },
  }
}

/**
 * Decides a message that is new and does not come too soon. `later`: too many messages already wait
 * for room.
 */
export const takeArrival = async (
  deciding: ArrivalContext,
  arrival: Arrival & { events: readonly string[] },
  at: { sql: Sql },
): Promise<
  | {
      outcome: 'taken' | 'declined'
      job: string | null
      effects: Effects
      detail?: Record<string, unknown>
    }
  | { outcome: 'later'; retryAfter: number }
> => {
  const { connection, message, events, now } = arrival
  const first = isToBeFetched(message)
    ? fetchedLater(arrival)
    : await decideMessage(deciding, arrival, at)
  const outcome = first.kind === 'later' ? await waitingForRoom(arrival, at.sql) : first
  if (outcome.kind === 'later') return { outcome: 'later', retryAfter: FULL_RETRY_S }
  const job = outcome.kind === 'taken' ? outcome.job : null
  const kept = outcome.kind === 'declined' ? [] : [insertChannelMessage(outcome.message)]
  const known = insertArrival({ source: connection.id, events, sender: message.sender, job, now })
  const effects = merge(outcome.effects, {
    writes: [known, receivedAt(connection.id, now), ...kept],
  })
  const detail = 'detail' in outcome && outcome.detail ? { detail: outcome.detail } : {}
  return { outcome: outcome.kind === 'declined' ? 'declined' : 'taken', job, effects, ...detail }
}
