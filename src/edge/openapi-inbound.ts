/** Addresses for posts from outside, for the OpenAPI document: they carry a signature in the place of a credential. */

const header = (name: string, description: string) => ({ name, in: 'header', required: true, description, schema: { type: 'string' } })

const headers = (...names: string[]) =>
  Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const refusal = (description: string, ...names: string[]) => ({
  description,
  headers: headers(...names),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
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
        { name: 'id', in: 'path', required: true, description: 'The webhook rule.', schema: { type: 'string', format: 'uuid' } },
        header('webhook-id', 'The same whenever the event is sent again.'),
        header('webhook-timestamp', 'Seconds since 1970, at most five minutes from now.'),
        header('webhook-signature', '`v1,` and the HMAC-SHA256 of `{id}.{timestamp}.{body}` in base64.'),
      ],
      requestBody: { required: true, content: { '*/*': { schema: {} } } },
      responses: {
        200: {
          description: 'The event is known.',
          headers: headers(),
          content: {
            'application/json': { schema: { type: 'object', properties: { received: { type: 'boolean' } }, required: ['received'] } },
          },
        },
        401: refusal('Error codes: unauthenticated. No rule has this address and signature.'),
        413: refusal('Error codes: payload_too_large'),
        429: refusal('Error codes: rate_limited', 'Retry-After'),
        503: refusal('Error codes: unavailable', 'Retry-After'),
      },
    },
  },
}
