/**
 * What comes in from outside, signed: verified in the process that received it. Internal: in no
 * document and on no surface.
 */
import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, nullable, oneOf, record } from '../shapes.ts'

const text = (maxLength: number, minLength = 0) => T.String({ minLength, maxLength })
const Json = T.Record(T.String(), T.Unknown())

const File = record({
  name: text(300),
  mimeType: text(200),
  byteSize: nullable(T.Integer({ minimum: 0 })),
  ref: nullable(Json),
})

const message = {
  eventIds: T.Array(text(300, 1), { minItems: 1, maxItems: 8 }),
  sender: record({ id: text(320, 1), name: nullable(text(300)) }),
  thread: text(300, 1),
  isShared: T.Boolean(),
  subject: nullable(text(1_000)),
  text: nullable(text(1_048_576)),
  attachments: T.Array(File, { maxItems: 50 }),
  replyTo: Json,
  directTo: nullable(Json),
  toFetch: nullable(Json),
}

export const inbound = {
  receive: op.command(
    'POST /operator/inbound/:id',
    'Start the job of a webhook rule. The same event starts it once.',
    {
      input: {
        id: Id,
        event: T.String({ minLength: 1, maxLength: 256 }),
        body: T.String({ maxLength: 65_536 }),
      },
      output: record({ job: nullable(Id), retryAfter: T.Integer() }),
    },
    { errors: ['not_found', 'plan_invalid'], roles: ['editor'], whileDeleting: true },
  ),
  channel: op.command(
    'POST /operator/inbound/channels/:id',
    'Take a message of a channel. The same event is taken once. Nothing is recorded of one that comes too soon.',
    {
      input: { id: Id, message: record(message) },
      output: record({
        outcome: oneOf(['taken', 'known', 'declined', 'later']),
        retryAfter: T.Integer(),
      }),
    },
    { errors: ['not_found'], roles: ['editor'], whileDeleting: true },
  ),
  undelivered: op.command(
    'POST /operator/inbound/channels/:id/undelivered',
    'Note that messages of a channel did not reach their recipients. Later: one of them is still on its way.',
    {
      input: {
        id: Id,
        messages: T.Array(
          record({
            reply: Id,
            part: T.Integer({ minimum: 0, maximum: 999 }),
            externalId: text(300, 1),
            error: text(500),
          }),
          { minItems: 1, maxItems: 100 },
        ),
      },
      output: record({ outcome: oneOf(['noted', 'known', 'later']), retryAfter: T.Integer() }),
    },
    { errors: ['not_found'], roles: ['editor'], whileDeleting: true },
  ),
}
