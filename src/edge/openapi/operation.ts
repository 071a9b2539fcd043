/** An operation as the document describes it. */
import type { TObject } from '@sinclair/typebox'
import { WORKSPACE_HEADER } from '#contract/headers'
import { hintKinds } from '#contract/hints'
import {
  downloadFormsOf,
  isExempt,
  type NamedOp,
  pathParams,
  readsOneRecord,
  readsOnly,
  requiredAccess,
  takesKey,
} from '#contract/op'
import { errorsOf } from '#contract/op-errors'
import { errorTable } from '#kernel/errors'
import { fileTypes } from '../file.ts'
import { fileParameters, fileResponses } from './files.ts'
import { type Components, plain } from './schemas.ts'

const json = (schema: object) => ({ 'application/json': { schema } })

const header = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } })

/**
 * For operations that count against rates. Their answers show the rates, and also the other limits
 * if these have been checked.
 */
const limitHeaders = (o: NamedOp) =>
  o.kind === 'public' || o.kind === 'download' || isExempt(o, 'rates')
    ? {}
    : { ...header('RateLimit'), ...header('RateLimit-Policy') }

/**
 * Documents the headers only on 429 and, for operations with a cap or quota, on client errors. On
 * every error, they would double the size of the document.
 */
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
  const { description, ...schema } = JSON.parse(JSON.stringify(input.properties[name])) as {
    description?: string
  }
  const required = place === 'path' || (input.required ?? []).includes(name)
  const text = name === 'id' ? 'The id of the record.' : description
  return { name, in: place, required, schema, ...(text ? { description: text } : {}) }
}

const bodyOf = (o: NamedOp, fields: string[], components: Components) => {
  const { properties, required = [] } = o.input as TObject
  if (o.body !== undefined)
    return { required: false, content: json(plain(properties[o.body]!, components)) }
  const needed = required.filter((name) => fields.includes(name))
  const schema = {
    type: 'object',
    properties: Object.fromEntries(
      fields.map((name) => [name, plain(properties[name]!, components)]),
    ),
    ...(needed.length > 0 ? { required: needed } : {}),
    additionalProperties: false,
  }
  return { required: needed.length > 0, content: json(schema) }
}

/** A stream of lines. The schema describes one line. */
const fileOf = (o: NamedOp, components: Components) => {
  const ndjson = plain(o.output, components)
  const schemas = {
    ndjson,
    csv: { type: 'string', description: 'CSV as in RFC 4180, with a header line.' },
  }
  return {
    [o.status]: {
      description:
        'One JSON object per line, each matching the schema. If the download fails, the last line has `error`, as in any error response.',
      headers: { ...header('X-Request-Id'), ...header('Content-Disposition') },
      content: Object.fromEntries(
        downloadFormsOf(o).map((form) => [
          fileTypes[form].split(';')[0],
          { schema: schemas[form] },
        ]),
      ),
    },
  }
}

const streamTexts = {
  events:
    'With this Accept header: server-sent events, each with its seq as id, its type as event, and its data. The text of the model comes as delta and reset without an id, until a message replaces it. Reconnect with Last-Event-ID.',
  hints: `With this Accept header: server-sent events. resync: hints may be missing before it, so read again what you show; each connection begins with one. hint: its data is {"what", "kind", "id", "by": {"kind", "id"}}: the operation, event or work that has changed a record; the kind of the record, one of ${hintKinds.join(', ')}; its id, or null if there is only one or many have changed; and who did it.`,
}

const eventStream = (stream: keyof typeof streamTexts) => ({
  'text/event-stream': { schema: { type: 'string', description: streamTexts[stream] } },
})

const recordTag = { ETag: { $ref: '#/components/headers/ETag' } }
const ifNoneMatch = { $ref: '#/components/parameters/If-None-Match' }

const successOf = (o: NamedOp, components: Components) => {
  if (o.kind === 'download') return fileOf(o, components)
  if (o.kind === 'file') return fileResponses(limitHeaders(o))
  const content = {
    ...json(plain(o.output, components)),
    ...(o.stream ? eventStream(o.stream) : {}),
  }
  const headers = {
    ...header('X-Request-Id'),
    ...(takesKey(o) ? header('Idempotency-Replayed') : {}),
    ...limitHeaders(o),
  }
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
    ...(readsOneRecord(o)
      ? {
          304: {
            description: 'Your copy is current.',
            headers: { ...header('X-Request-Id'), ...recordTag },
          },
        }
      : {}),
  }
}

const tagOf = (o: NamedOp): string => o.id.slice(0, o.id.lastIndexOf('.'))

/** A signed-in person can do everything that an API key can. */
const securityOf = (o: NamedOp): Record<string, string[]>[] => {
  if (o.scope === 'public') return []
  return o.scope === 'session'
    ? [{ session: [] }]
    : [{ apiKey: requiredAccess(o) }, { session: [] }]
}

const lastEventId = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description:
    'With Accept: text/event-stream, the id of the last event that you have. It replaces after.',
  schema: { type: 'string', pattern: '^[0-9]{1,15}$' },
}

const namedWorkspace = { $ref: `#/components/parameters/${WORKSPACE_HEADER}` }

export const detailOf = (o: NamedOp, components: Components) => {
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
      ...(o.kind === 'public' ? [] : [namedWorkspace]),
      ...(o.stream === 'events' ? [lastEventId] : []),
      ...(readsOneRecord(o) ? [ifNoneMatch] : []),
      ...(o.kind === 'file' ? fileParameters : []),
    ],
    ...(!readsOnly(o) && rest.length > 0 ? { requestBody: bodyOf(o, rest, components) } : {}),
    responses: { ...successOf(o, components), ...errorResponses(o) },
  }
}
