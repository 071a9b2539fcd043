/** The webhook endpoint, as operators manage it: commands between processes, in no document and on no surface. */
import { Type as T } from '@sinclair/typebox'
import { events } from '../events.ts'
import { op } from '../op.ts'
import { Id, nullable, oneOf, record, Time } from '../shapes.ts'

export const eventKinds = events.map(({ type }) => type)

const Webhook = record({
  url: T.String(),
  events: T.Array(T.String(), { description: 'The kinds it is told of; none: all.' }),
  status: oneOf(['active', 'disabled']),
  disabled_reason: nullable(T.String()),
  failing_since: nullable(Time),
  previous_secret_until: nullable(Time),
})

const Secret = T.String({
  minLength: 40,
  maxLength: 400,
  pattern: '^[0-9A-Za-z+/]+=*$',
  description: 'Sealed for the workspace, in base64: neither the way here nor a stored answer shows it.',
})
const answer = record({ webhook: Webhook })
const sent = record({ event_id: Id })

export const webhook = {
  set: op('PUT /operator/webhook', 'Set the endpoint in the place of the one there was.', {
    input: { url: T.String({ minLength: 1, maxLength: 2_048 }), events: T.Array(oneOf(eventKinds), { maxItems: 20 }), secret: Secret },
    output: answer,
  }),
  rotate: op('POST /operator/webhook/rotate', 'Sign by a new secret, and for a day by the former one too.', {
    input: { secret: Secret },
    output: answer,
  }),
  disable: op('POST /operator/webhook/disable', 'Send nothing any more. What waits is given up.', { input: {}, output: answer }),
  test: op('POST /operator/webhook/test', 'Send an event that says nothing.', { input: {}, output: sent }),
  replay: op('POST /operator/webhook/replay/:id', 'Send an event again that is still kept.', { input: { id: Id }, output: sent }),
}
