/** What becomes of a message that has come in from a channel: a job, a line to its sender, or nothing. */
import type { ChannelConnection } from '#domain/agent/channel'
import { type ArrivedMessage, type ChannelMessage, contentOf, isToBeFetched, STRANGERS_FILES, sorted } from '#domain/agent/channel-message'
import { hasRoomFor, type Trust, trustOf } from '#domain/agent/channel-trust'
import type { Models, NO_MODEL } from '#domain/agent/model-choice'
import { type ArrivalFacts, insertArrival, insertChannelMessage, receivedAt } from '#store/agent/channel-messages'
import type { Sql } from '#store/engine/db'
import { type Effects, merge } from '#store/engine/letter'
import { newWork } from '../work.ts'
import { startChannelTurn } from './channel-turns.ts'

/** Messages that a connection takes within a minute, and those of one sender. */
const MOST_OF_CONNECTION = 600
const MOST_OF_SENDER = 60
const RATE_MS = 60_000
/** How long messages count, and jobs of strangers. */
export const ARRIVAL_TIMES = { rateMs: RATE_MS, dayMs: 86_400_000 } as const
/** When the agent may have room for further jobs. In seconds. */
const FULL_RETRY_S = 30

export interface Identity {
  id: string
  person_id: string
}

export interface Arrival {
  connection: ChannelConnection
  message: ChannelMessage
  identity: Identity | undefined
  facts: ArrivalFacts
  now: Date
}

/** The row of a message that has just come. */
export const newChannelMessage = (
  id: string,
  { sender, thread, isShared, subject, text, attachments, replyTo, directTo, toFetch }: ArrivedMessage,
  { connection, identity, now }: Pick<Arrival, 'connection' | 'identity' | 'now'>,
): ChannelMessage => ({
  ...{
    id,
    connection_id: connection.id,
    state: 'fetching',
    sender: sender.id,
    sender_name: sender.name,
    identity_id: identity?.id ?? null,
  },
  ...{ thread, is_shared: isShared, subject, text, reply_to: replyTo, direct_to: directTo, to_fetch: toFetch, error: null },
  attachments: sorted(attachments, identity ? undefined : STRANGERS_FILES),
  ...{ job_id: null, conversation_id: null, created_at: now, updated_at: now },
})

/** Seconds until the oldest message counts no more. */
const until = (oldest: Date | null, now: Date): number =>
  Math.max(1, Math.ceil(((oldest ?? now).getTime() + RATE_MS - now.getTime()) / 1_000))

/** After how many seconds it may be sent again; undefined: it comes in time. */
export const tooSoon = ({ facts, now }: Pick<Arrival, 'facts' | 'now'>): number | undefined => {
  if (facts.of_connection >= MOST_OF_CONNECTION) return until(facts.oldest_of_connection, now)
  return facts.of_sender >= MOST_OF_SENDER ? until(facts.oldest_of_sender, now) : undefined
}

const hasRoom = (trust: Trust, { connection, facts }: Pick<Arrival, 'connection' | 'facts'>): boolean =>
  trust.kind === 'member' ||
  hasRoomFor({ ofSender: facts.strangers_of_sender, ofConnection: facts.strangers_of_connection }, connection.config)

export type Outcome =
  | { kind: 'taken'; job: string; effects: Effects }
  | { kind: 'fetching' | 'declined'; effects: Effects }
  | { kind: 'later' }

/** `later`: the agent has too many open jobs. The message is complete. */
export const decided = async (
  models: Models | typeof NO_MODEL,
  { connection, message, identity, facts, now }: Arrival,
  { sql }: { sql: Sql },
): Promise<(Exclude<Outcome, { kind: 'later' }> & { message: ChannelMessage | undefined }) | { kind: 'later' }> => {
  const trust = trustOf(connection, { id: message.sender, identity })
  if (trust.kind === 'none' || !hasRoom(trust, { connection, facts }) || contentOf(message) === '')
    return { kind: 'declined', message: undefined, effects: {} }
  const begun = await startChannelTurn(models, { connection, message, trust, now }, { sql })
  return begun ? { kind: 'taken', job: begun.job.id, message: begun.message, effects: begun.effects } : { kind: 'later' }
}

const fetching = ({ message, now }: Arrival): Effects => ({
  writes: [insertChannelMessage(message)],
  work: [newWork('channel_fetch', { refId: message.id, origin: 'manual', runAt: now })],
})

/** What a letter does with a message that is new, and does not come too soon. */
export const arrived = async (
  models: Models | typeof NO_MODEL,
  arrival: Arrival & { events: readonly string[] },
  at: { sql: Sql },
): Promise<{ outcome: 'taken' | 'declined'; job: string | null; effects: Effects } | { outcome: 'later'; retryAfter: number }> => {
  const { connection, message, identity, events, now } = arrival
  const trust = trustOf(connection, { id: message.sender, identity })
  const outcome =
    isToBeFetched(message) && hasRoom(trust, arrival)
      ? ({ kind: 'fetching', effects: fetching(arrival) } as const)
      : await decided(models, arrival, at)
  if (outcome.kind === 'later') return { outcome: 'later', retryAfter: FULL_RETRY_S }
  const job = outcome.kind === 'taken' ? outcome.job : null
  const kept = 'message' in outcome && outcome.message ? [insertChannelMessage(outcome.message)] : []
  const known = insertArrival({ source: connection.id, events, sender: message.sender, job, now })
  const effects = merge(outcome.effects, { writes: [known, receivedAt(connection.id, now), ...kept] })
  return { outcome: outcome.kind === 'declined' ? 'declined' : 'taken', job, effects }
}
