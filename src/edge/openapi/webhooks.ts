/** The events for the OpenAPI document. */
import { Type as T, type TSchema } from '@sinclair/typebox'
import { events } from '#contract/events'
import { Id, oneOf, record, Time } from '#contract/shapes'

const describeHeader = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
})

const SIGNATURE =
  'v1, and the base64 of HMAC-SHA256 over {webhook-id}.{webhook-timestamp}.{body}; during a rotation, several signatures separated by spaces.'

/** The headers, by their names among the document's parameters. */
export const webhookHeaders = {
  'webhook-id': describeHeader(
    'webhook-id',
    'The id of the event, the same on every try. Use it to drop duplicates.',
  ),
  'webhook-timestamp': describeHeader(
    'webhook-timestamp',
    'The time of this try, in Unix seconds.',
  ),
  'webhook-signature': describeHeader(
    'webhook-signature',
    `As in Standard Webhooks 1.0: ${SIGNATURE}`,
  ),
  'X-Webhook-Signature': describeHeader(
    'X-Webhook-Signature',
    `The same as webhook-signature: ${SIGNATURE}`,
  ),
}

const parameters = Object.keys(webhookHeaders).map((name) => ({
  $ref: `#/components/parameters/${name}`,
}))

const waits = {
  'Retry-After': {
    description: 'Seconds or a date. The next try comes no sooner.',
    schema: { type: 'string' },
  },
}

const responses = {
  '2XX': { description: 'Accepted. Respond within 15 seconds.' },
  410: { description: 'The endpoint is disabled.' },
  429: { description: 'Retried later.', headers: waits },
  503: { description: 'Retried later.', headers: waits },
  default: {
    description: 'Retried, up to eight times within 28 hours. Redirects are not followed.',
  },
}

/** `growth.item.posted` → `GrowthItemPosted`. */
const titleOf = (type: string): string =>
  type
    .split('.')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('')

const payloadOf = ({ type, data }: { type: string; data: TSchema }) =>
  record(
    {
      id: Id,
      type: oneOf([type]),
      created_at: Time,
      workspace_id: T.String({ format: 'uuid' }),
      data,
    },
    { title: `${titleOf(type)}Event` },
  )

/** The webhooks by event type. `show`: converts a schema to its form in the document. */
export const webhooksOf = (show: (schema: TSchema) => object) =>
  Object.fromEntries(
    events.map((event) => [
      event.type,
      {
        post: {
          operationId: `events.${event.type}`,
          summary: event.summary.split(/[;,] /)[0]!.replace(/\.$/, ''),
          description: event.summary,
          tags: ['events'],
          security: [],
          parameters,
          requestBody: {
            required: true,
            content: { 'application/json': { schema: show(payloadOf(event)) } },
          },
          responses,
        },
      },
    ]),
  )
