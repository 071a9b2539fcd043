import { Type as T } from '@sinclair/typebox'
import { eventKinds } from '../events.ts'
import { op } from '../op.ts'
import { Id, NextCursor, nullable, oneOf, page, record, Time } from '../shapes.ts'

const Webhook = record(
  {
    url: nullable(T.String({ description: 'For owners alone, because an address may hold a token; null for other members.' })),
    host: T.String({ description: 'Of the address, with its port where it names one.' }),
    events: T.Array(T.String(), { description: 'The kinds it is told of; none: all.' }),
    status: oneOf(['active', 'disabled']),
    disabled_reason: nullable(T.String()),
    failing_since: nullable(Time),
    held_until: nullable({ ...Time, description: 'The receiver asked to be left alone until then.' }),
    previous_secret_until: nullable({ ...Time, description: 'The former secret signs too until then.' }),
    waiting: T.Integer({ description: 'How many events wait to be sent.' }),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Webhook' },
)

const states = ['pending', 'delivered', 'dead'] as const

const WebhookEvent = record(
  {
    id: Id,
    type: T.String(),
    subject: nullable(T.String({ description: 'The record it is of: those of one are sent in order.' })),
    state: oneOf(states, { description: 'dead: given up.' }),
    attempts: T.Integer(),
    last_error: nullable(T.String()),
    created_at: Time,
    next_at: nullable({ ...Time, description: 'When it is tried next; null once it is over.' }),
    expires_at: nullable({ ...Time, description: 'Until then it can be replayed; null while it waits.' }),
  },
  { title: 'WebhookEvent' },
)

const Url = T.String({
  minLength: 1,
  maxLength: 2_048,
  format: 'uri',
  examples: ['https://hooks.example.com/tendril'],
  description: 'A public https address.',
})
const Events = T.Array(oneOf(eventKinds), { maxItems: 20, description: 'The kinds to be told of; none: all.' })

const answer = record({ webhook: Webhook })
const withSecret = record({
  webhook: Webhook,
  secret: T.String({ description: 'Shown once. Receivers verify by it, as Standard Webhooks 1.0 asks.' }),
})
const event = record({ event: WebhookEvent })
const noneSet = ['not_found'] as const
const notActive = ['not_found', 'conflict'] as const

export const webhook = {
  get: op(
    'GET /api/v1/app/webhook',
    'Read the webhook endpoint, how it fares and how many events wait. Its secret is not shown, and its whole address only to owners. 404 while none is set.',
    { input: {}, output: answer },
    { scope: 'session', errors: noneSet },
  ),
  set: op(
    'PUT /api/v1/app/webhook',
    'Set the webhook endpoint, in the place of the one there was, with a new secret. The answer shows the secret, once; the former one ends at once. To keep it, update the endpoint instead. What waits goes to the new address.',
    { input: { url: Url, events: T.Optional(Events) }, output: withSecret },
    { scope: 'session', secret: true },
  ),
  update: op(
    'PATCH /api/v1/app/webhook',
    'Change the address or the kinds of events, and keep the secret. What is absent stays. An endpoint that was disabled is told again, also when nothing is given.',
    { input: { url: T.Optional(Url), events: T.Optional(Events) }, output: answer },
    { scope: 'session', errors: noneSet, repeatable: true },
  ),
  rotate: op(
    'POST /api/v1/app/webhook/rotate',
    'Make a new secret. The answer shows it, once. For a day everything is signed by the former one too; one before that ends at once.',
    { input: {}, output: withSecret },
    { scope: 'session', errors: notActive, secret: true },
  ),
  disable: op(
    'DELETE /api/v1/app/webhook',
    'Send nothing any more. What waits is given up, and stays in the list of events for 30 days. Update or set the endpoint to go on.',
    { input: {}, output: answer },
    { scope: 'session', errors: noneSet, destructive: true, repeatable: true },
  ),
  test: op(
    'POST /api/v1/app/webhook/test',
    'Send an event that says nothing, webhook.test, whatever the endpoint asks for. The list of events tells what became of it.',
    { input: {}, output: event },
    { scope: 'session', errors: notActive },
  ),
  events: op(
    'GET /api/v1/app/webhook/events',
    'List the events that the endpoint is or was told of, newest first. Those delivered are kept for a day, those given up for 30 days; what it did not ask for is not among them.',
    {
      input: {
        ...page,
        state: T.Optional(oneOf(states, { description: 'Those in this state alone. dead: given up.' })),
        type: T.Optional(oneOf(eventKinds, { description: 'Those of this kind alone.' })),
      },
      output: record({ events: T.Array(WebhookEvent), next_cursor: NextCursor }),
    },
    { scope: 'session' },
  ),
  replay: op(
    'POST /api/v1/app/webhook/events/:id/replay',
    'Send an event again. It must still be kept; it goes under the same id, with all its tries before it.',
    { input: { id: Id }, output: event },
    { scope: 'session', errors: notActive },
  ),
}
