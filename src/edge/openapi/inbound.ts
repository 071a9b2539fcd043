/**
 * Addresses for posts from outside, for the OpenAPI document. The posts carry a signature instead
 * of a credential.
 */
import { channelNames } from '#contract/channel-names'

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
})

const headers = (...names: string[]) =>
  Object.fromEntries(
    ['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )

const refusal = (description: string, ...names: string[]) => ({
  description,
  headers: headers(...names),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})

const channelParameter = (names: readonly string[]) => ({
  name: 'channel',
  in: 'path',
  required: true,
  description: 'The channel.',
  schema: { type: 'string', enum: [...names] },
})

export const inboundPaths = {
  '/webhooks/rules/{id}': {
    post: {
      operationId: 'agent.webhookRules.receive',
      summary: 'Start a job of the agent by a webhook rule',
      description:
        'Takes any body of up to 64 KiB, signed as in Standard Webhooks 1.0 with the secret of the rule. The same webhook-id starts one job. 60 an hour.',
      tags: ['agent.webhookRules'],
      security: [],
      parameters: [
        {
          name: 'id',
          in: 'path',
          required: true,
          description: 'The webhook rule.',
          schema: { type: 'string', format: 'uuid' },
        },
        header('webhook-id', 'The same whenever the event is sent again.'),
        header('webhook-timestamp', 'Seconds since 1970, at most five minutes from now.'),
        header(
          'webhook-signature',
          '`v1,` and the HMAC-SHA256 of `{id}.{timestamp}.{body}` in base64.',
        ),
      ],
      requestBody: { required: true, content: { '*/*': { schema: {} } } },
      responses: {
        200: {
          description: 'The event is known.',
          headers: headers(),
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: { received: { type: 'boolean' } },
                required: ['received'],
              },
            },
          },
        },
        401: refusal('Error codes: unauthenticated. No rule has this address and signature.'),
        403: refusal("Error codes: plan_invalid. The workspace's billing is not in order."),
        413: refusal('Error codes: payload_too_large'),
        429: refusal('Error codes: rate_limited', 'Retry-After'),
        503: refusal('Error codes: unavailable', 'Retry-After'),
      },
    },
  },
  '/webhooks/channels/{channel}': {
    post: {
      operationId: 'agent.channels.receive',
      summary: 'Take what people write in a channel',
      description:
        'For the providers of channels: takes any body of up to 1 MiB, signed in the way of the provider. Each message is taken once; up to 600 a minute of a connection, and 60 of a sender. A handshake of Slack is answered.',
      tags: ['agent.channels'],
      security: [],
      parameters: [channelParameter(channelNames)],
      requestBody: { required: true, content: { '*/*': { schema: {} } } },
      responses: {
        200: {
          description:
            'The messages are known. The answer to sms is an empty TwiML document, and that to a handshake its challenge.',
          headers: headers(),
          content: {
            'application/json': {
              schema: { type: 'object', properties: { received: { type: 'boolean' } } },
            },
            'text/xml': { schema: { type: 'string' } },
          },
        },
        400: refusal(
          'Error codes: invalid_input. A field of a signed post of dev is wrong; the message names it.',
        ),
        401: refusal(
          'Error codes: unauthenticated. No channel has this routing key and signature.',
        ),
        404: refusal('Error codes: not_found. There is no such channel.'),
        413: refusal('Error codes: payload_too_large'),
        429: refusal('Error codes: rate_limited', 'Retry-After'),
        503: refusal(
          'Error codes: channel_unconfigured, unavailable. No connection of the channel is active yet, or messages come too fast.',
          'Retry-After',
        ),
      },
    },
    get: {
      operationId: 'agent.channels.challenge',
      summary: 'Answer a challenge of Meta',
      description:
        'For WhatsApp alone: answers hub.challenge if a connection has the verify token.',
      tags: ['agent.channels'],
      security: [],
      parameters: [
        channelParameter(['whatsapp']),
        ...['mode', 'verify_token', 'challenge'].map((name) => ({
          name: `hub.${name}`,
          in: 'query',
          required: true,
          schema: { type: 'string' },
        })),
      ],
      responses: {
        200: {
          description: 'The challenge.',
          headers: headers(),
          content: { 'text/plain': { schema: { type: 'string' } } },
        },
        403: refusal('Error codes: forbidden. No connection has this verify token.'),
        404: refusal('Error codes: not_found. There is no such channel.'),
        405: refusal('Error codes: method_not_allowed. The channel has no challenge.'),
        429: refusal('Error codes: rate_limited', 'Retry-After'),
        503: refusal('Error codes: unavailable', 'Retry-After'),
      },
    },
  },
}
