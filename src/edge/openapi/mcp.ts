/** The MCP endpoint for the OpenAPI document. */

const header = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } })

const refusal = (description: string, headers: string[] = []) => ({
  description,
  headers: Object.assign({}, ...['X-Request-Id', ...headers].map(header)),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})

const sessionId = {
  name: 'Mcp-Session-Id',
  in: 'header',
  required: false,
  description:
    'From the response to initialize. Absent in initialize itself, and from protocol version 2026-07-28 on.',
  schema: { type: 'string' },
}

const query = (name: string, description: string) => ({
  name,
  in: 'query',
  required: false,
  description,
  schema: { type: 'string' },
})

const operation = <More extends object>(name: string, summary: string, more: More) => ({
  operationId: `mcp.${name}`,
  summary,
  description: `${summary}. Streamable HTTP, with messages of the Model Context Protocol.`,
  tags: ['mcp'],
  security: [{ apiKey: ['mcp:use'] }, { session: [] }],
  ...more,
})

const refusals = {
  401: refusal('Error codes: unauthenticated', ['WWW-Authenticate']),
  403: refusal('Error codes: missing_scope, forbidden (a page of another origin)', [
    'WWW-Authenticate',
  ]),
  404: {
    description: 'A JSON-RPC error: you have no such session. Start a new one with initialize.',
  },
  429: refusal('Error codes: rate_limited', ['Retry-After']),
  503: refusal('Error codes: unavailable', ['Retry-After']),
}

const stream = { 'text/event-stream': { schema: { type: 'string' } } }
const message = {
  'application/json': { schema: { type: 'object', description: 'A JSON-RPC message.' } },
}

export const mcpPaths = {
  '/api/v1/mcp': {
    post: operation('send', 'Send a message', {
      parameters: [
        sessionId,
        query('toolsets', 'On initialize: comma-separated tool groups to offer.'),
        query('readonly', 'On initialize: 1 to offer only read-only tools.'),
      ],
      requestBody: { required: true, content: message },
      responses: {
        200: {
          description: 'The response, in a stream that may carry progress first.',
          content: { ...stream, ...message },
        },
        202: { description: 'The notification was accepted.' },
        400: { description: 'Not a valid message, or an unsupported protocol version.' },
        ...refusals,
      },
    }),
    get: operation('listen', 'Listen to notifications', {
      parameters: [
        sessionId,
        {
          name: 'Last-Event-ID',
          in: 'header',
          required: false,
          description: 'Resume a broken stream after this event.',
          schema: { type: 'string' },
        },
      ],
      responses: {
        200: { description: 'A stream of notifications.', content: stream },
        ...refusals,
      },
    }),
    delete: operation('end', 'End the session', {
      parameters: [sessionId],
      responses: { 200: { description: 'The session has ended.' }, ...refusals },
    }),
  },
}
