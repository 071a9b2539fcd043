/** Downloads of stored files, for the OpenAPI document. */

const header = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } })
const text = (description: string) => ({ description, schema: { type: 'string' } })

const describeHeader = (name: string, description: string) => ({
  name,
  in: 'header',
  required: false,
  ...text(description),
})

/** What a client can ask for. */
export const fileParameters = [
  describeHeader(
    'Range',
    'One range of bytes, such as `bytes=0-1023`. Several ranges at once are ignored.',
  ),
  describeHeader(
    'If-Range',
    'The ETag of what you have: the range counts only while it is current.',
  ),
  describeHeader('If-None-Match', 'The ETag of your copy. Returns 304 while it is current.'),
]

const bytes = { content: { '*/*': { schema: { type: 'string', format: 'binary' } } } }

/** The answers that have the bytes, or say something about them. `more`: their other headers. */
export const fileResponses = (more: object = {}) => {
  const shared = {
    ...header('X-Request-Id'),
    ...header('Content-Disposition'),
    ETag: text('SHA-256 of the whole file, in hex.'),
    ...more,
  }
  const part = (description: string) => ({ 'Content-Range': text(description) })
  return {
    200: { description: 'The file, as an attachment.', headers: shared, ...bytes },
    206: {
      description: 'The range.',
      headers: { ...shared, ...part('The range, and the size of the file.') },
      ...bytes,
    },
    304: { description: 'Your copy is current.', headers: shared },
    416: {
      description: 'The file has no such bytes.',
      headers: { ...shared, ...part('The size of the file.') },
    },
  }
}

const refusal = (description: string, ...names: string[]) => ({
  description,
  headers: Object.assign({}, ...['X-Request-Id', ...names].map(header)),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})

export const sharedFilePaths = {
  '/api/v1/artifacts/shared/{token}': {
    get: {
      operationId: 'agent.artifacts.shared',
      summary: 'Download a shared artifact',
      description:
        'Needs no credential but the token. 404 in every case but an active share of an artifact.',
      tags: ['agent.artifacts'],
      security: [],
      parameters: [
        {
          name: 'token',
          in: 'path',
          required: true,
          description: 'The token of the share.',
          schema: { type: 'string' },
        },
        ...fileParameters,
      ],
      responses: {
        ...fileResponses(),
        404: refusal('Error codes: not_found'),
        429: refusal('Error codes: rate_limited', 'Retry-After'),
        503: refusal('Error codes: unavailable', 'Retry-After'),
      },
    },
  },
}
