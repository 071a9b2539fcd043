/**
 * Whether a connection of a channel works: what its provider has said of it, and when to ask again.
 * Pure.
 */
import { beginning } from '#kernel/storable'
import type { ChannelConnection } from './channel.ts'

const LONGEST_ERROR = 500

/**
 * The provider has confirmed that the routing key belongs to these credentials, and nobody else has
 * the route. It may still refuse to send: an earlier refusal stays on record until a message has
 * been sent.
 */
export const proven = (connection: ChannelConnection, now: Date): ChannelConnection => ({
  ...connection,
  status: 'active',
  last_error: connection.send_error,
  failures: 0,
  checked_at: now,
  updated_at: now,
})

/** Keeps what the provider told us. */
export const withLearned = (
  connection: ChannelConnection,
  learned: Record<string, unknown>,
  now: Date,
): ChannelConnection => ({
  ...connection,
  config: { ...connection.config, ...learned },
  updated_at: now,
})

/**
 * A person has to fix it: the provider refuses the credentials, or another workspace has the
 * routing key.
 */
export const markRefused = (
  connection: ChannelConnection,
  error: string,
  now: Date,
): ChannelConnection => ({
  ...connection,
  status: 'failing',
  last_error: beginning(error, LONGEST_ERROR),
  failures: connection.failures + 1,
  checked_at: now,
  updated_at: now,
})

/** The provider refuses to send anything with these credentials. */
export const sendRefused = (
  connection: ChannelConnection,
  error: string,
  now: Date,
): ChannelConnection => {
  const after = markRefused(connection, error, now)
  return { ...after, send_error: after.last_error }
}

/** The provider did not answer, so its last verdict holds. */
export const markUnreached = (
  connection: ChannelConnection,
  error: string,
  now: Date,
): ChannelConnection => ({
  ...connection,
  last_error: beginning(error, LONGEST_ERROR),
  failures: connection.failures + 1,
  updated_at: now,
})

/** Keeps the status, and the reason if the connection is already failing. */
const noteError = (connection: ChannelConnection, error: string, now: Date): ChannelConnection =>
  connection.status === 'failing'
    ? connection
    : { ...connection, last_error: beginning(error, LONGEST_ERROR), updated_at: now }

/** A message to the connection was given up. */
export const markLost = (
  connection: ChannelConnection,
  error: string,
  now: Date,
): ChannelConnection => noteError(connection, `a message was given up: ${error}`, now)

/** The provider could not deliver a message of ours that it had accepted. */
export const notDelivered = (
  connection: ChannelConnection,
  error: string,
  now: Date,
): ChannelConnection => {
  const after = noteError(connection, `a message was not delivered: ${error}`, now)
  // The next message that is sent clears this error.
  return connection.status === 'failing' ? after : { ...after, send_error: after.last_error }
}

/** The pause before the provider is asked again, by the number of failures so far. */
const PAUSES_MS = [10_000, 60_000, 300_000, 900_000, 3_600_000, 3_600_000, 3_600_000]

/** When to ask the provider again; undefined: only when a person wants it. */
export const nextCheck = ({ failures }: ChannelConnection, now: Date): Date | undefined => {
  const pause = PAUSES_MS[failures - 1]
  return pause === undefined ? undefined : new Date(now.getTime() + pause)
}
