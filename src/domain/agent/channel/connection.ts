/**
 * A workspace's connection of a channel: its configuration, and whether its provider has confirmed
 * that the routing key belongs to it.
 */
import { channelConnectionRecord } from '#contract/records/agent/channel-connection'
import { viewOf } from '#contract/records/view'
import { fail, refuseField } from '#kernel/errors'
import { isDeeper } from '#kernel/json-value'
import { beginning } from '#kernel/storable'
import {
  type Channel,
  type ChannelConnection,
  channelTraits,
  type SenderPolicy,
} from './channel.ts'

/** The values of credentials, by name. */
export type Credentials = Record<string, string>

/** The names that an adapter knows. */
export interface KnownFields {
  credentials: Readonly<Record<string, { needed: boolean }>>
  config: Readonly<Record<string, unknown>>
}

export const connectionLimits = {
  connections: 20,
  credentials: 30,
  credentialLength: 8_192,
  configLength: 8_192,
  configDepth: 8,
  nameLength: 160,
} as const
/** JSON in Postgres cannot contain it. */
const NUL = '\0'
const CREDENTIAL_NAME = /^[A-Za-z0-9_.-]{1,100}$/

/** Shown instead of a credential's value. */
const MASK = '…'

const holdsNul = (value: unknown): boolean => {
  if (typeof value === 'string') return value.includes(NUL)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some((entry) => entry.some(holdsNul))
}

/** Throws `invalid_input`: a credential inside the configuration would be shown to people. */
const requireConfig = (config: Record<string, unknown>, { credentials }: KnownFields): void => {
  if (isDeeper(config, connectionLimits.configDepth))
    refuseField('config', `is nested more than ${connectionLimits.configDepth} levels deep`)
  if (JSON.stringify(config).length > connectionLimits.configLength)
    refuseField('config', `has more than ${connectionLimits.configLength} characters as JSON`)
  if (holdsNul(config)) refuseField('config', 'has a NUL character')
  const secret = Object.keys(config).find((name) => Object.hasOwn(credentials, name))
  if (secret !== undefined) refuseField(`config.${secret}`, 'is a secret; give it in credentials')
}

/**
 * Throws `invalid_input`: a name that the adapter does not know is a typo, and its value would
 * never be used.
 */
const requireKnown = (names: readonly string[], { credentials }: KnownFields): void => {
  const known = Object.keys(credentials)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return
  const valid = known.length === 0 ? 'it has none' : `valid names: ${known.join(', ')}`
  refuseField(`credentials.${unknown}`, `is no credential of this channel; ${valid}`)
}

/** Throws `invalid_input`; the message never contains a value. */
const requireCredentials = (credentials: Credentials): void => {
  const all = Object.entries(credentials)
  if (all.length > connectionLimits.credentials)
    refuseField('credentials', `has more than ${connectionLimits.credentials} entries`)
  for (const [name, value] of all) {
    if (!CREDENTIAL_NAME.test(name))
      refuseField(
        'credentials',
        'has a name that is not made of 1 to 100 letters, digits, dots, _ or -',
      )
    if (value.trim() === '') refuseField(`credentials.${name}`, 'is empty')
    if (value.length > connectionLimits.credentialLength)
      refuseField(
        `credentials.${name}`,
        `has more than ${connectionLimits.credentialLength} characters`,
      )
    if (value === MASK)
      refuseField(
        `credentials.${name}`,
        'stands for a value that is not shown; give the value itself',
      )
  }
}

/** What a person must supply before the provider can be asked; null if nothing is missing. */
export const missingCredentials = (
  { credentials }: KnownFields,
  names: readonly string[],
): string | null => {
  const missing = Object.entries(credentials).flatMap(([name, { needed }]) =>
    needed && !names.includes(name) ? [name] : [],
  )
  return missing.length === 0 ? null : `credentials are missing: ${missing.join(', ')}`
}

export interface NewChannelConnection {
  id: string
  channel: Channel
  /** As the adapter spells it. */
  routingKey: string
  displayName?: string | undefined
  senderPolicy?: SenderPolicy | undefined
  config?: Record<string, unknown> | undefined
  credentials?: Credentials | undefined
}

/** `credentials`: all values, if any changed. `isDue`: whether to ask the provider. */
export interface ConfiguredChannel {
  connection: ChannelConnection
  credentials: Credentials | undefined
  isDue: boolean
}

/**
 * The provider is not asked until the credentials are complete. A connection that it has confirmed
 * fails without them.
 */
const judge = (
  connection: ChannelConnection,
  known: KnownFields,
): Pick<ConfiguredChannel, 'connection' | 'isDue'> => {
  const missing = missingCredentials(known, connection.credential_names)
  const status =
    missing === null || connection.status === 'unverified' ? connection.status : 'failing'
  return {
    connection: { ...connection, status, last_error: missing, send_error: null, failures: 0 },
    isDue: missing === null,
  }
}

/** Throws `invalid_input`. `total`: how many connections the workspace has. */
export const newChannelConnection = (
  {
    id,
    channel,
    routingKey,
    displayName,
    senderPolicy = 'members',
    config = {},
    credentials = {},
  }: NewChannelConnection,
  { known, total, now }: { known: KnownFields; total: number; now: Date },
): ConfiguredChannel => {
  requireConfig(config, known)
  requireCredentials(credentials)
  requireKnown(Object.keys(credentials), known)
  if (total >= connectionLimits.connections)
    fail('invalid_input', `cannot add: the workspace has ${total} channels; delete one first`)
  const connection: ChannelConnection = {
    ...channelConnectionRecord.blank,
    id,
    channel,
    routing_key: routingKey,
    sender_policy: senderPolicy,
    config,
    display_name:
      displayName?.trim() ??
      beginning(`${channelTraits[channel].name} ${routingKey}`, connectionLimits.nameLength),
    credential_names: Object.keys(credentials).sort(),
    status: 'unverified',
    failures: 0,
    created_at: now,
    updated_at: now,
  }
  return { ...judge(connection, known), credentials }
}

/** The fields of `patch` replace those of `before`; null removes one. */
const mergeFields = <V>(
  before: Record<string, V>,
  patch: Record<string, V | null>,
): Record<string, V> => {
  const kept = Object.entries(before).filter(([name]) => !Object.hasOwn(patch, name))
  const given = Object.entries(patch).filter(
    (entry): entry is [string, V & {}] => entry[1] !== null,
  )
  return Object.fromEntries([...kept, ...given] as [string, V][])
}

export interface ConnectionPatch {
  displayName?: string | undefined
  senderPolicy?: SenderPolicy | undefined
  config?: Record<string, unknown> | undefined
  credentials?: Record<string, string | null> | undefined
}

/** A mask that a caller sends back leaves the value as it is. */
const withoutMasks = (
  patch: Record<string, string | null>,
  before: Credentials,
): Record<string, string | null> =>
  Object.fromEntries(
    Object.entries(patch).filter(
      ([name, value]) => !(value === MASK && Object.hasOwn(before, name)),
    ),
  )

/** Names that the patch sets and that were not there before. */
const givenNames = (patch: Record<string, string | null>, before: Credentials): string[] =>
  Object.keys(patch).filter((name) => patch[name] !== null && !Object.hasOwn(before, name))

/**
 * Absent fields stay, and so do absent names of `config` and `credentials`. The provider is asked
 * about a changed configuration or credential; until it answers, what it confirmed before holds.
 * Throws `invalid_input`.
 */
export const updateChannelConnection = (
  before: ChannelConnection,
  patch: ConnectionPatch,
  { known, credentials: values, now }: { known: KnownFields; credentials: Credentials; now: Date },
): ConfiguredChannel => {
  const { displayName = before.display_name, senderPolicy = before.sender_policy } = patch
  const config =
    patch.config === undefined ? before.config : mergeFields(before.config, patch.config)
  const credentials =
    patch.credentials === undefined
      ? undefined
      : mergeFields(values, withoutMasks(patch.credentials, values))
  if (patch.config) requireConfig(config, known)
  if (credentials) requireCredentials(credentials)
  // Names that an earlier version accepted stay until they are removed.
  if (patch.credentials) requireKnown(givenNames(patch.credentials, values), known)
  const connection = {
    ...before,
    display_name: displayName.trim(),
    sender_policy: senderPolicy,
    config,
    updated_at: now,
    credential_names: credentials ? Object.keys(credentials).sort() : before.credential_names,
  }
  if (patch.config === undefined && !credentials) return { connection, credentials, isDue: false }
  return { ...judge(connection, known), credentials }
}

/** Whether any value was added, replaced or removed. `after`: undefined if none was given. */
export const isRekeyed = (before: Credentials, after: Credentials | undefined): boolean =>
  after !== undefined &&
  (Object.keys(after).length !== Object.keys(before).length ||
    Object.entries(after).some(([name, value]) => before[name] !== value))

const view = viewOf(channelConnectionRecord)

/** As people see it: without the values of credentials. */
export const channelConnectionView = (connection: ChannelConnection) => ({
  ...view(connection),
  credentials: Object.fromEntries(connection.credential_names.map((name) => [name, MASK])),
})
