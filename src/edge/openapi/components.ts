/**
 * What the document's operations refer to: headers, parameters, ways to authenticate, and the body
 * of errors.
 */
import { Type as T } from '@sinclair/typebox'
import { conflictFields } from '#contract/conflict'
import { WORKSPACE_HEADER } from '#contract/headers'
import { KEY_LIMIT } from '#contract/op'
import { webhookHeaders } from './webhooks.ts'

export const ErrorBody = T.Object(
  {
    error: T.Object({
      code: T.String({
        description: 'A stable code for programs to act on.',
        examples: ['invalid_input'],
      }),
      message: T.String({
        description: 'A message for people. Starts with the documented string, if there is one.',
      }),
      ...conflictFields,
      details: T.Optional(
        T.Array(
          T.Object({
            path: T.String({ description: 'The path of the field, separated by dots.' }),
            message: T.String(),
          }),
          {
            description:
              'With invalid_input: one entry per invalid field. With conflict: what the record has now, as content_hash or revision, and under next the operation that leads on.',
          },
        ),
      ),
      request_id: T.String({ description: 'The id in X-Request-Id.' }),
    }),
  },
  { title: 'Error' },
)

const text = (description: string, schema: object = {}) => ({
  description,
  schema: { type: 'string', ...schema },
})

const headers = {
  'X-Request-Id': text(
    'The X-Request-Id of the request, or a new one. Also in logs and in the audit trail.',
  ),
  'Idempotency-Replayed': text(
    'true: this is the stored response of an earlier request. Nothing was executed.',
    { enum: ['true'] },
  ),
  'Retry-After': {
    description: 'Seconds to wait before a retry.',
    schema: { type: 'integer', minimum: 1 },
  },
  'RateLimit-Policy': text(
    'The request and command rates that apply, then the hourly cap of the action and, for generations, the monthly quota: `"requests";q=10000;w=10, "create_batch";q=120;w=3600`. Each allows q units per w seconds.',
  ),
  RateLimit: text(
    'What is left of each after this request: `"requests";r=9999;t=1, "create_batch";r=119;t=1234`. r units remain, and the limit is full again in t seconds.',
  ),
  'WWW-Authenticate': text('Always Bearer.'),
  'Content-Disposition': text('attachment, with the file name.'),
  ETag: text('The version of the record as you may see it, as a weak entity tag.'),
}

const parameters = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    ...text(
      'Any unique UTF-8 string. For 24 hours, a retry with the same key returns the stored response and executes nothing.',
      {
        minLength: 1,
        maxLength: KEY_LIMIT,
      },
    ),
  },
  [WORKSPACE_HEADER]: {
    name: WORKSPACE_HEADER,
    in: 'header',
    required: false,
    ...text(
      'The id of the workspace that the request is for. If your session or key is in another one, returns 409 conflict, and nothing is read or written.',
      { format: 'uuid' },
    ),
  },
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    ...text('The ETag of your copy. Returns 304 while it is current.'),
  },
  ...webhookHeaders,
}

const securitySchemes = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key (ak_…) with the scope of the operation.',
  },
  session: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The access token of a signed-in person. Browsers send it as a cookie.',
  },
}

export const components = { headers, parameters, securitySchemes }
