/**
 * The OpenAPI 3.1 document, rendered by @elysiajs/openapi from routes declared for it alone. Only `npm run generate` imports this:
 * the plugin brings three validation libraries, and overwrites our formats.
 */
import { openapi } from '@elysiajs/openapi'
import { Type as T, type TObject, type TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { operations, resources } from '#contract/index'
import { accessOf, braces, formsOf, isExempt, KEY_LIMIT, type NamedOp, pathParams, readsOneRecord, readsOnly, takesKey } from '#contract/op'
import { errorsOf } from '#contract/op-errors'
import { errorTable } from '#kernel/errors'
import { fileTypes } from '../file.ts'
import { besidePaths } from './beside.ts'
import { fileParameters, fileResponses } from './files.ts'
import { guide } from './guide.ts'
import { webhookHeaders, webhooksOf } from './webhooks.ts'

const ErrorBody = T.Object(
  {
    error: T.Object({
      code: T.String({ description: 'A stable code for programs to act on.', examples: ['invalid_input'] }),
      message: T.String({ description: 'A message for people. Starts with the documented string, if there is one.' }),
      details: T.Optional(
        T.Array(T.Object({ path: T.String({ description: 'The path of the field, separated by dots.' }), message: T.String() }), {
          description: 'With invalid_input: one entry per invalid field.',
        }),
      ),
      request_id: T.String({ description: 'The id in X-Request-Id.' }),
    }),
  },
  { title: 'Error' },
)

/** Schemas by title; each appears once in the document. */
type Components = Map<string, object>

/** Plain JSON Schema, without TypeBox's symbols; schemas with a title become references. */
const plain = (schema: TSchema, components: Components): object => hoist(JSON.parse(JSON.stringify(schema)), components) as object

const hoist = (node: unknown, components: Components): unknown => {
  if (Array.isArray(node)) return node.map((child) => hoist(child, components))
  if (typeof node !== 'object' || node === null) return node
  const copy = Object.fromEntries(Object.entries(node).map(([key, child]) => [key, hoist(child, components)]))
  if (copy.type !== 'object' || typeof copy.title !== 'string') return copy
  const known = components.get(copy.title)
  if (known && !Bun.deepEquals(known, copy)) throw new Error(`two schemas have the title ${copy.title}`)
  components.set(copy.title, copy)
  return { $ref: `#/components/schemas/${copy.title}` }
}

const json = (schema: object) => ({ 'application/json': { schema } })

const header = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } })

/** For operations that count against rates. Their answers show the rates, and the other limits once those have been checked. */
const limitHeaders = (o: NamedOp) =>
  o.kind === 'public' || o.kind === 'download' || isExempt(o, 'rates') ? {} : { ...header('RateLimit'), ...header('RateLimit-Policy') }

/** Documents the headers only on 429 and, for operations with a cap or quota, on client errors: on every error they would double the document. */
const tellsLimits = ({ cap, quota }: NamedOp, status: number): boolean =>
  status === 429 || (status < 500 && Boolean(cap ?? quota) && !BEFORE_LIMITS.includes(status))
const BEFORE_LIMITS = [400, 401, 413, 415]

const headersOf = (o: NamedOp, status: number) => ({
  ...header('X-Request-Id'),
  ...(status === 429 || status === 503 ? header('Retry-After') : {}),
  ...(status === 401 ? header('WWW-Authenticate') : {}),
  ...(tellsLimits(o, status) ? limitHeaders(o) : {}),
})

const errorResponses = (o: NamedOp) => {
  const byStatus = Map.groupBy(errorsOf(o), (code) => errorTable[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, all]) => [
      status,
      {
        description: `Error codes: ${[...new Set(all)].join(', ')}${status === 500 && o.failure ? `. Its message: ${o.failure}` : ''}`,
        headers: headersOf(o, status),
        content: json({ $ref: '#/components/schemas/Error' }),
      },
    ]),
  )
}

const parameter = (o: NamedOp, name: string, place: 'path' | 'query') => {
  const input = o.input as TObject
  const { description, ...schema } = JSON.parse(JSON.stringify(input.properties[name])) as { description?: string }
  const required = place === 'path' || (input.required ?? []).includes(name)
  const text = name === 'id' ? 'The id of the record.' : description
  return { name, in: place, required, schema, ...(text ? { description: text } : {}) }
}

const bodyOf = (o: NamedOp, fields: string[], components: Components) => {
  const { properties, required = [] } = o.input as TObject
  if (o.body !== undefined) return { required: false, content: json(plain(properties[o.body]!, components)) }
  const needed = required.filter((name) => fields.includes(name))
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields.map((name) => [name, plain(properties[name]!, components)])),
    ...(needed.length > 0 ? { required: needed } : {}),
    additionalProperties: false,
  }
  return { required: needed.length > 0, content: json(schema) }
}

/** A stream of lines. The schema describes one line. */
const fileOf = (o: NamedOp, components: Components) => {
  const ndjson = plain(o.output, components)
  const schemas = { ndjson, csv: { type: 'string', description: 'CSV as in RFC 4180, with a header line.' } }
  return {
    [o.status]: {
      description:
        'One JSON object per line, each matching the schema. If the download fails, the last line has `error`, as in any error response.',
      headers: { ...header('X-Request-Id'), ...header('Content-Disposition') },
      content: Object.fromEntries(formsOf(o).map((form) => [fileTypes[form].split(';')[0], { schema: schemas[form] }])),
    },
  }
}

const eventStream = {
  'text/event-stream': {
    schema: {
      type: 'string',
      description:
        'With this Accept header: server-sent events, each with its seq as id, its type as event, and its data. The text of the model comes as delta and reset without an id, until a message replaces it. Reconnect with Last-Event-ID.',
    },
  },
}

const recordTag = { ETag: { $ref: '#/components/headers/ETag' } }
const ifNoneMatch = { $ref: '#/components/parameters/If-None-Match' }

const successOf = (o: NamedOp, components: Components) => {
  if (o.kind === 'download') return fileOf(o, components)
  if (o.kind === 'file') return fileResponses(limitHeaders(o))
  const content = { ...json(plain(o.output, components)), ...(o.stream ? eventStream : {}) }
  const headers = { ...header('X-Request-Id'), ...(takesKey(o) ? header('Idempotency-Replayed') : {}), ...limitHeaders(o) }
  const late = {
    description: 'The current record. The outcome is still pending.',
    headers: { ...header('X-Request-Id'), ...limitHeaders(o) },
    content,
  }
  return {
    [o.status]: {
      description: o.status === 201 ? 'Created.' : 'Done.',
      headers: { ...headers, ...(readsOneRecord(o) ? recordTag : {}) },
      content,
    },
    ...(o.kind === 'awaited' ? { 202: late } : {}),
    ...(readsOneRecord(o) ? { 304: { description: 'Your copy is current.', headers: { ...header('X-Request-Id'), ...recordTag } } } : {}),
  }
}

const tagOf = (o: NamedOp): string => o.id.slice(0, o.id.lastIndexOf('.'))

/** A signed-in person can do everything that an API key can. */
const securityOf = (o: NamedOp): Record<string, string[]>[] => {
  if (o.scope === 'public') return []
  return o.scope === 'session' ? [{ session: [] }] : [{ apiKey: accessOf(o) }, { session: [] }]
}

const lastEventId = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'With Accept: text/event-stream, the id of the last event that you have. It replaces after.',
  schema: { type: 'string', pattern: '^[0-9]{1,15}$' },
}

const detailOf = (o: NamedOp, components: Components) => {
  const inPath = pathParams(o.path)
  const rest = Object.keys((o.input as TObject).properties).filter((name) => !inPath.includes(name))
  const query = readsOnly(o) ? rest.map((name) => parameter(o, name, 'query')) : []
  const key = takesKey(o) ? [{ $ref: '#/components/parameters/Idempotency-Key' }] : []
  return {
    operationId: o.id,
    summary: o.summary.split(/[.:;] /)[0]!.replace(/\.$/, ''),
    description: o.summary,
    tags: [tagOf(o)],
    security: securityOf(o),
    parameters: [
      ...inPath.map((name) => parameter(o, name, 'path')),
      ...query,
      ...key,
      ...(o.stream ? [lastEventId] : []),
      ...(readsOneRecord(o) ? [ifNoneMatch] : []),
      ...(o.kind === 'file' ? fileParameters : []),
    ],
    ...(!readsOnly(o) && rest.length > 0 ? { requestBody: bodyOf(o, rest, components) } : {}),
    responses: { ...successOf(o, components), ...errorResponses(o) },
  }
}

const text = (description: string, schema: object = {}) => ({ description, schema: { type: 'string', ...schema } })

const components = (schemas: Components) => ({
  schemas: Object.fromEntries(schemas),
  headers: {
    'X-Request-Id': text('The X-Request-Id of the request, or a new one. Also in logs and in the audit trail.'),
    'Idempotency-Replayed': text('true: this is the stored response of an earlier request. Nothing was executed.', { enum: ['true'] }),
    'Retry-After': { description: 'Seconds to wait before a retry.', schema: { type: 'integer', minimum: 1 } },
    'RateLimit-Policy': text(
      'The request and command rates that apply, then the hourly cap of the action and, for generations, the monthly quota: `"requests";q=10000;w=10, "create_batch";q=120;w=3600`. Each allows q units per w seconds.',
    ),
    RateLimit: text(
      'What is left of each after this request: `"requests";r=9999;t=1, "create_batch";r=119;t=1234`. r units remain, and the limit is full again in t seconds.',
    ),
    'WWW-Authenticate': text('Always Bearer.'),
    'Content-Disposition': text('attachment, with the file name.'),
    ETag: text('The version of the record as you may see it, as a weak entity tag.'),
  },
  parameters: {
    'Idempotency-Key': {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      ...text('Any unique UTF-8 string. For 24 hours, a retry with the same key returns the stored response and executes nothing.', {
        minLength: 1,
        maxLength: KEY_LIMIT,
      }),
    },
    'If-None-Match': {
      name: 'If-None-Match',
      in: 'header',
      required: false,
      ...text('The ETag of your copy. Returns 304 while it is current.'),
    },
    ...webhookHeaders,
  },
  securitySchemes: {
    apiKey: { type: 'http', scheme: 'bearer', description: 'An API key (ak_…) with the scope of the operation.' },
    session: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'The access token of a signed-in person. Browsers send it as a cookie.',
    },
  },
})

const documentation = (schemas: Components) => ({
  info: {
    title: 'Tendril',
    version: 'v1',
    summary: 'An AI social growth operator: drafts posts, waits for human approval, and posts exactly once.',
    description: guide,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    contact: { name: 'The operator of this deployment' },
  },
  servers: [{ url: '/', description: 'This deployment' }],
  tags: [
    ...resources.map(({ prefix, about }) => ({ name: prefix, description: about })),
    { name: 'mcp', description: 'The same operations as tools for agents.' },
    { name: 'documents', description: 'Machine-readable descriptions of this deployment. No key required.' },
    { name: 'events', description: 'Events sent to the webhook endpoint of the workspace.' },
  ],
  components: components(schemas),
})

/** Called by `npm run generate`; the server sends the generated file. */
export async function openApiDocument(): Promise<Record<string, unknown>> {
  const schemas: Components = new Map()
  plain(ErrorBody, schemas)
  const details = operations.map((o) => ({ o, detail: detailOf(o, schemas) }))
  const show = (schema: TSchema) => plain(schema, schemas)
  const [beside, webhooks] = [besidePaths(show), webhooksOf(show)]
  const docs = new Elysia().use(
    openapi({ provider: null, specPath: '/document', openapiVersion: '3.1.1', documentation: documentation(schemas) as never }),
  )
  // Not with parameters as `:name`: the plugin would replace our descriptions of them.
  for (const { o, detail } of details) docs.route(o.method, braces(o.path), () => '', { detail: detail as never })
  const rendered = await docs.handle(new Request('http://localhost/document'))
  const document = (await rendered.json()) as { paths: object }
  return { ...document, paths: { ...document.paths, ...beside }, webhooks }
}
