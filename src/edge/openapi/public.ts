/** The public documents for the OpenAPI document. */
import type { TSchema } from '@sinclair/typebox'
import { Manifest } from '../manifest.ts'
import { ReadyQuery } from '../ready.ts'

const header = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } })

const etag = {
  ETag: {
    description: 'The version of the document. It changes only with the program.',
    schema: { type: 'string' },
  },
}

const known = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The ETag of your copy. Returns 304 while it is current.',
  schema: { type: 'string' },
}

const refusal = (description: string, headers: string[] = []) => ({
  description,
  headers: Object.assign({}, ...['X-Request-Id', ...headers].map(header)),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})

const document = (name: string, summary: string, schema: object) => ({
  get: {
    operationId: `documents.${name}`,
    summary,
    description: `${summary}. No key required.`,
    tags: ['documents'],
    security: [],
    parameters: [known],
    responses: {
      200: {
        description: 'The document.',
        headers: { ...header('X-Request-Id'), ...etag },
        content: { 'application/json': { schema } },
      },
      304: {
        description: 'Your copy is current.',
        headers: { ...header('X-Request-Id'), ...etag },
      },
      429: refusal('Error codes: rate_limited', ['Retry-After']),
    },
  },
})

const openApi = {
  type: 'object',
  description: 'An OpenAPI 3.1 document.',
  properties: {
    openapi: { type: 'string' },
    info: { type: 'object' },
    paths: { type: 'object' },
    webhooks: { type: 'object' },
  },
  required: ['openapi', 'info', 'paths', 'webhooks'],
}

const health = {
  get: {
    operationId: 'documents.health',
    summary: 'Ask whether the server is up',
    description:
      'Says that this server serves, for how long, and from which commit. No key required, and not rate limited.',
    tags: ['documents'],
    security: [],
    responses: {
      200: {
        description: 'The server serves.',
        headers: header('X-Request-Id'),
        content: {
          'application/json': {
            schema: {
              type: 'object',
              properties: {
                status: { type: 'string', enum: ['ok'] },
                uptime_seconds: { type: 'number' },
                commit: { type: ['string', 'null'] },
              },
              required: ['status', 'uptime_seconds', 'commit'],
            },
          },
        },
      },
      503: refusal('Error codes: unavailable. The server is starting.', ['Retry-After']),
    },
  },
}

const ready = {
  get: {
    operationId: 'documents.ready',
    summary: 'Ask whether the server can do its work',
    description:
      'Says whether the database answers with the migrations of this server, and whether the server owns workspaces or can. No key required, and not rate limited.',
    tags: ['documents'],
    security: [],
    parameters: [
      {
        name: 'held',
        in: 'query',
        required: false,
        description: ReadyQuery.properties.held.description,
        schema: { type: 'string', enum: ReadyQuery.properties.held.enum },
      },
    ],
    responses: {
      200: {
        description: 'The server can do its work.',
        headers: header('X-Request-Id'),
        content: {
          'application/json': {
            schema: {
              type: 'object',
              properties: {
                status: { type: 'string', enum: ['ready'] },
                held: {
                  type: 'boolean',
                  description:
                    'Whether the deployment is held, so that nothing goes out by itself.',
                },
              },
              required: ['status', 'held'],
            },
          },
        },
      },
      400: refusal(
        'Error codes: invalid_input. `held` has another value, or the query another name.',
      ),
      503: refusal(
        'Error codes: unavailable. The message is the reason: starting, stopping, database, migrations, ownership or held.',
        ['Retry-After'],
      ),
    },
  },
}

/** `show`: converts a schema to its form in the document. */
export const publicPaths = (show: (schema: TSchema) => object) => ({
  '/health': health,
  '/ready': ready,
  '/api/v1/openapi.json': document('openapi', 'Read this document', openApi),
  '/api/v1/capabilities': document(
    'capabilities',
    'Read the capability manifest: endpoints, scopes, errors, tools and events',
    show(Manifest),
  ),
  '/.well-known/tendril.json': document(
    'wellKnown',
    'Read the capability manifest at its well-known location',
    show(Manifest),
  ),
})
