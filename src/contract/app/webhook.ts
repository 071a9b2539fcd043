import { Type as T } from '@sinclair/typebox'
import { eventKinds } from '../events.ts'
import { op } from '../op.ts'
import { Id, NextCursor, nullable, oneOf, page, record, Time } from '../shapes.ts'
import { InFlight } from '../shared-records.ts'

const endpointStatus = oneOf(['active', 'disabled'])

const Webhook = record(
  {
    url: nullable(
      T.String({
        description: 'Null unless you are an owner, because the URL may contain a token.',
      }),
    ),
    host: T.String({ description: 'The host of the URL, with its port if given.' }),
    events: T.Array(T.String(), { description: 'The event types it receives; empty means all.' }),
    status: endpointStatus,
    disabled_reason: nullable(T.String()),
    failing_since: nullable(Time),
    held_until: nullable({
      ...Time,
      description: 'The receiver asked for no deliveries before this time.',
    }),
    previous_secret_until: nullable({
      ...Time,
      description: 'Until then, events are also signed with the previous secret.',
    }),
    waiting: T.Integer({ description: 'How many events are waiting to be sent.' }),
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
    subject: nullable(
      T.String({
        description: 'The record that the event is about. Events of one record are sent in order.',
      }),
    ),
    state: oneOf(states, { description: 'dead: all tries failed.' }),
    attempts: T.Integer(),
    last_error: nullable(T.String()),
    created_at: Time,
    next_at: nullable({
      ...Time,
      description: 'The time of the next try; null when none is left.',
    }),
    expires_at: nullable({
      ...Time,
      description: 'Until then you can replay it; null while it waits.',
    }),
  },
  { title: 'WebhookEvent' },
)

const Url = T.String({
  minLength: 1,
  maxLength: 2_048,
  format: 'uri',
  examples: ['https://hooks.example.com/tendril'],
  description: 'A public https URL.',
})
const Events = T.Array(oneOf(eventKinds), {
  maxItems: 20,
  description: 'The event types to receive; empty means all.',
})

const answer = record({ webhook: Webhook })
const withSecret = record({
  webhook: Webhook,
  secret: T.String({
    description: 'Shown once. Verify signatures with it, as in Standard Webhooks 1.0.',
  }),
})
const event = record({ event: WebhookEvent })
const noneSet = ['not_found'] as const
const notActive = ['not_found', 'conflict'] as const

export const webhook = {
  get: op.query(
    'GET /api/v1/app/webhook',
    'Read the webhook endpoint, its health and the number of waiting events. The secret is never shown; only owners see the full URL. 404 if no endpoint is set.',
    { input: {}, output: answer },
    { scope: 'session', errors: noneSet },
  ),
  set: op.command(
    'PUT /api/v1/app/webhook',
    'Set the webhook endpoint, replacing any other. Returns a new secret, once. The previous secret ends at once; to keep it, update the endpoint instead. Waiting events go to the new URL.',
    { input: { url: Url, events: T.Optional(Events) }, output: withSecret },
    { scope: 'session', secret: true },
  ),
  update: op.command(
    'PATCH /api/v1/app/webhook',
    'Update the URL or event types, keeping the secret. Omitted fields keep their value. A disabled endpoint is enabled again, even by an empty update.',
    { input: { url: T.Optional(Url), events: T.Optional(Events) }, output: answer },
    { scope: 'session', errors: noneSet, repeatable: true },
  ),
  rotate: op.command(
    'POST /api/v1/app/webhook/rotate',
    'Rotate the secret. Returns the new secret once. For 24 hours, events are also signed with the previous secret; an older one ends at once.',
    { input: {}, output: withSecret },
    { scope: 'session', errors: notActive, secret: true },
  ),
  disable: op.command(
    'DELETE /api/v1/app/webhook',
    'Disable the webhook endpoint. Nothing further is sent: waiting events are dropped, and stay in the list of events for 30 days; one that is on its way is listed in in_flight, and takes its outcome. Update or set the endpoint to enable it again.',
    { input: {}, output: record({ webhook: Webhook, in_flight: InFlight }) },
    { scope: 'session', errors: noneSet, recalls: true, destructive: true, repeatable: true },
  ),
  test: op.command(
    'POST /api/v1/app/webhook/test',
    'Send a test event, webhook.test, whatever event types the endpoint receives. The list of events shows the result.',
    { input: {}, output: event },
    { scope: 'session', errors: notActive },
  ),
  events: op.query(
    'GET /api/v1/app/webhook/events',
    'List webhook events, newest first. Delivered events are kept for a day, dead ones for 30 days. Event types that the endpoint does not receive are not listed.',
    {
      input: {
        ...page,
        state: T.Optional(
          oneOf(states, {
            description: 'Return only events in this state. dead: all tries failed.',
          }),
        ),
        type: T.Optional(oneOf(eventKinds, { description: 'Return only events of this type.' })),
      },
      output: record({
        events: T.Array(WebhookEvent),
        endpoint: nullable({
          ...endpointStatus,
          description: 'The status of the endpoint; null if none is set.',
        }),
        next_cursor: NextCursor,
      }),
    },
    { scope: 'session' },
  ),
  event: op.query(
    'GET /api/v1/app/webhook/events/:id',
    'Get a webhook event, such as a test or a replay, to see whether it has been delivered.',
    { input: { id: Id }, output: event },
    { scope: 'session', errors: noneSet },
  ),
  replay: op.command(
    'POST /api/v1/app/webhook/events/:id/replay',
    'Replay a webhook event. Works while the event is kept, and sends it under the same id with a full set of tries.',
    { input: { id: Id }, output: event },
    { scope: 'session', errors: notActive },
  ),
}
