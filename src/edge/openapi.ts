/** The OpenAPI 3.1 document, rendered by @elysiajs/openapi from routes that are declared for it alone. */
import { openapi } from '@elysiajs/openapi'
import { Type as T, type TObject, type TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { operations } from '#contract/index'
import { commandErrors, commonErrors, isQuery, KEY_LIMIT, type NamedOp, pathParams } from '#contract/op'
import { type ErrorCode, errorTable } from '#kernel/errors'

/** `/items/:id` as OpenAPI writes it. */
export const braces = (path: string): string => path.replace(/:([a-z_]+)/gi, '{$1}')

const ErrorBody = T.Object({
  error: T.Object({
    code: T.String(),
    message: T.String(),
    details: T.Optional(T.Array(T.Object({ path: T.String(), message: T.String() }))),
    request_id: T.String(),
  }),
})

/** Plain JSON schema: what TypeBox keeps under symbols is left behind. */
const plain = (schema: TSchema): object => JSON.parse(JSON.stringify(schema))

const json = (schema: object) => ({ 'application/json': { schema } })

const errorResponses = (codes: readonly ErrorCode[]) => {
  const byStatus = Map.groupBy(codes, (code) => errorTable[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, all]) => [
      status,
      { description: `Error codes: ${[...new Set(all)].join(', ')}`, content: json({ $ref: '#/components/schemas/Error' }) },
    ]),
  )
}

const parameter = (o: NamedOp, name: string, place: 'path' | 'query') => {
  const { description, ...schema } = plain((o.input as TObject).properties[name]!) as { description?: string }
  const required = place === 'path' || ((o.input as TObject).required ?? []).includes(name)
  return { name, in: place, required, schema, ...(description ? { description } : {}) }
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Any unique string. A retry with the same key replays the stored answer and runs nothing; kept for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: KEY_LIMIT },
}

const bodyOf = (o: NamedOp, fields: string[]) => {
  const { properties, required = [] } = o.input as TObject
  const needed = required.filter((name) => fields.includes(name))
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields.map((name) => [name, plain(properties[name]!)])),
    ...(needed.length > 0 ? { required: needed } : {}),
    additionalProperties: false,
  }
  return { required: needed.length > 0, content: json(schema) }
}

const detailOf = (o: NamedOp) => {
  const inPath = pathParams(o.path)
  const rest = Object.keys((o.input as TObject).properties).filter((name) => !inPath.includes(name))
  const query = isQuery(o) ? rest.map((name) => parameter(o, name, 'query')) : [idempotencyKey]
  const success = { description: 'Success', content: json(plain(o.output)) }
  const late = { description: 'The record as it stands: the outcome is still to come.', content: json(plain(o.output)) }
  const codes = [...o.errors, ...commonErrors, ...(isQuery(o) ? [] : commandErrors)]
  return {
    operationId: o.id,
    summary: o.summary.split(/[.:;] /)[0]!.replace(/\.$/, ''),
    description: o.summary,
    tags: [o.id.split('.').slice(0, 2).join('.')],
    security: [{ apiKey: [o.scope] }],
    parameters: [...inPath.map((name) => parameter(o, name, 'path')), ...query],
    ...(!isQuery(o) && rest.length > 0 ? { requestBody: bodyOf(o, rest) } : {}),
    responses: { [o.status]: success, ...(o.slow ? { 202: late } : {}), ...errorResponses(codes) },
  }
}

const documentation = {
  info: {
    title: 'Tendril',
    version: 'v1',
    description: 'An AI social growth operator: drafts behind human approval, posted exactly once.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    contact: { name: 'The operator of this deployment' },
  },
  servers: [{ url: '/', description: 'This deployment' }],
  tags: [...new Set(operations.map((o) => o.id.split('.').slice(0, 2).join('.')))].map((name) => ({
    name,
    description: `Operations ${name}.*`,
  })),
  components: {
    schemas: { Error: plain(ErrorBody) },
    securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, ak_…' } },
  },
}

/** Rendered once, at start and by `npm run generate`. */
export async function openApiDocument(): Promise<Record<string, unknown>> {
  const docs = new Elysia().use(
    openapi({ provider: null, specPath: '/document', openapiVersion: '3.1.1', documentation: documentation as never }),
  )
  for (const o of operations) docs.route(o.method, o.path, () => '', { detail: detailOf(o) as never })
  const rendered = await docs.handle(new Request('http://localhost/document'))
  return rendered.json() as Promise<Record<string, unknown>>
}
