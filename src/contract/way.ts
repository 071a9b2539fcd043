/**
 * The history of a record that is sent: its versions, what people decided about it, and each try to
 * send it.
 */
import { Type as T } from '@sinclair/typebox'
import { DoubtReadSchema } from './records/growth/attempt.ts'
import { doubtCauses } from './records/growth/doubt.ts'
import { Id, NamedAuthorSchema, nullable, oneOf, record, Time } from './shapes.ts'

const Version = record(
  {
    number: T.Integer(),
    by: nullable(NamedAuthorSchema),
    at: Time,
    content_hash: nullable(T.String({ description: 'SHA-256 of the text; null if it had none.' })),
  },
  { title: 'Version', description: 'Without an author: written by a drafter.' },
)

const Deed = record(
  {
    operation: T.String({ description: 'For example growth.items.approve.' }),
    by: NamedAuthorSchema,
    allowed_by: nullable(NamedAuthorSchema, {
      description: 'Who allowed it, if an agent did it by a call that a person had to allow.',
    }),
    at: Time,
    surface: T.String({ description: 'rest, mcp, cli or admin; agent for a job of the agent.' }),
  },
  { title: 'Deed' },
)

const outcomes = [
  'sending',
  'unknown',
  'review',
  'posted',
  'failed',
  'unsent',
  'superseded',
  'returned',
] as const

const Try = record(
  {
    number: T.Integer(),
    outcome: oneOf(outcomes, {
      description:
        'unknown: the timeline is being read. review: a person must check. unsent: taken back, or never begun. superseded: sent again at the word of a person. returned: the network provably had not made it.',
    }),
    origin: oneOf(['manual', 'automatic']),
    account: record({ id: Id, handle: T.String(), network: T.String() }),
    content_hash: nullable(T.String({ description: 'SHA-256 of the text sent.' })),
    began_at: Time,
    ended_at: nullable(Time),
    error: nullable(T.String()),
    external_id: nullable(T.String()),
    in_doubt_since: nullable(Time),
    cause: nullable(oneOf(doubtCauses, { description: 'Why it was in doubt.' })),
    reads: T.Array(DoubtReadSchema, {
      description: 'The last 20 reads of the network while it was in doubt, oldest first.',
    }),
    next_read_at: nullable({
      ...Time,
      description: 'Null when no more reads are planned, or automation is paused.',
    }),
  },
  { title: 'Try' },
)

/** Fields of a record that is read by itself. */
export const way = {
  versions: T.Array(Version, {
    description: 'Newest first, at most 50; revisions have the texts.',
  }),
  decisions: T.Array(Deed, {
    description: 'What people, keys and agents did to it, newest first, at most 50.',
  }),
  attempts: T.Array(Try, { description: 'Each try to send it, newest first, at most 50.' }),
}
