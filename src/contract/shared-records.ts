/** The records that operations of more than one area answer with. */
import { Type as T } from '@sinclair/typebox'
import { Id, nullable, oneOf, record, Time } from './shapes.ts'

export const Account = record(
  {
    id: Id,
    network: T.String({ description: 'For example sandbox.' }),
    external_id: T.String({ description: "The network's own id of the account." }),
    handle: T.String(),
    status: oneOf(['connected', 'disconnected']),
    is_default: T.Boolean({ description: 'New approvals are bound to this account.' }),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Account' },
)

export const Reads = record(
  {
    tier: oneOf(['free', 'payg']),
    unit: oneOf(['resources', 'usd_micros'], { description: 'Millionths of a US dollar on payg.' }),
    used: T.Integer(),
    limit: T.Integer(),
    reserved: T.Integer({ description: 'The part of limit that is kept for finding out what became of a post.' }),
    resets_at: Time,
  },
  { title: 'Reads', description: 'What may be read of the network in a day, by UTC.' },
)

export const Connection = record(
  {
    connected: T.Boolean(),
    tier: oneOf(['free', 'payg'], { description: 'payg: reads spend a metered daily budget.' }),
    account: nullable(Account),
    reads: Reads,
  },
  { title: 'Connection' },
)

export const Automation = record(
  {
    paused: T.Boolean({ description: 'Nothing starts unattended.' }),
    in_flight: T.Array(
      record({
        item_id: T.Optional(T.String({ format: 'uuid', description: 'Of a post.' })),
        engagement_id: T.Optional(T.String({ format: 'uuid', description: 'Of an engagement.' })),
        origin: oneOf(['manual', 'automatic'], { description: 'manual: a person or a program asked for it now.' }),
        since: Time,
      }),
      { description: 'Posts and engagements that are on the wire and can no longer be recalled; each has one of the ids.' },
    ),
  },
  { title: 'Automation' },
)
