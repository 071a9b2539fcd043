/** The endpoints of OAuth, for the OpenAPI document: forms, and errors that are not ours. */

const text = (description: string, more: object = {}) => ({ type: 'string', description, ...more })

const object = (properties: Record<string, object>, required: string[]) => ({ type: 'object', properties, required })

const errorSchema = object({ error: text('What programs go by.'), error_description: text('For people.') }, ['error', 'error_description'])

const json = (description: string, schema: object, headers: string[] = []) => ({
  description,
  headers: Object.fromEntries(['X-Request-Id', ...headers].map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  content: { 'application/json': { schema } },
})

interface Described {
  name: string
  summary: string
  description: string
  form: object
  done: object
  refusals: string
}

const post = ({ name, summary, description, form, done, refusals }: Described) => ({
  post: {
    operationId: `app.device.${name}`,
    summary,
    description,
    tags: ['app.device'],
    security: [],
    requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema: form } } },
    responses: {
      200: done,
      400: json(`Errors: ${refusals}`, errorSchema),
      429: json('Error: temporarily_unavailable', errorSchema, ['Retry-After']),
      503: json('Error: temporarily_unavailable', errorSchema, ['Retry-After']),
    },
  },
})

const clientId = text('The name of the program.', { enum: ['tendril-cli'] })
const scope = text('Scopes with spaces between: of api:read, api:write and mcp:use (all when absent), or session alone.')

const code = post({
  name: 'code',
  summary: 'Ask for a device to be let in',
  description: 'The device authorization request of RFC 8628, 3.1. The person opens verification_uri and compares the code.',
  form: object({ client_id: clientId, scope, device_name: text('What the person is shown, such as the name of the host.') }, ['client_id']),
  done: json(
    'The codes.',
    object(
      {
        device_code: text('For the device alone.'),
        user_code: text('For the person.', { examples: ['BCDF-GHJK'] }),
        verification_uri: text('Where the person decides.'),
        verification_uri_complete: text('The same, with the code filled in.'),
        expires_in: { type: 'integer', description: 'Seconds.' },
        interval: { type: 'integer', description: 'Seconds between two polls.' },
      },
      ['device_code', 'user_code', 'verification_uri', 'verification_uri_complete', 'expires_in', 'interval'],
    ),
  ),
  refusals: 'invalid_request, invalid_client, invalid_scope',
})

const token = post({
  name: 'token',
  summary: 'Ask whether a person has approved',
  description:
    'The device access token request of RFC 8628, 3.4. Gives the token once: an API key of the person who approved, or the access token of a session of an hour.',
  form: object(
    {
      grant_type: text('', { enum: ['urn:ietf:params:oauth:grant-type:device_code'] }),
      device_code: text('As it was given.'),
      client_id: clientId,
    },
    ['grant_type', 'device_code', 'client_id'],
  ),
  done: json(
    'The token.',
    object(
      {
        access_token: text('Send it as Bearer. It is shown this once.'),
        token_type: text('', { enum: ['Bearer'] }),
        expires_in: { type: 'integer', description: 'Seconds; absent for a key, which lasts until it is revoked.' },
        scope: text('What was given, which may be less than was asked for.'),
        workspace: object({ id: text('A uuid.'), name: text('Its name.') }, ['id', 'name']),
      },
      ['access_token', 'token_type', 'scope', 'workspace'],
    ),
  ),
  refusals:
    'authorization_pending, slow_down, access_denied, expired_token, invalid_grant, invalid_client, invalid_request, unsupported_grant_type',
})

const revoke = post({
  name: 'revoke',
  summary: 'Give a token back',
  description: 'RFC 7009: ends the API key or the session of a token. Holding it is enough; an unknown one is answered in the same way.',
  form: object(
    { token: text('An API key, an access token or a refresh token.'), token_type_hint: text('Not needed.'), client_id: clientId },
    ['token'],
  ),
  done: { description: 'The token is good for nothing now.', headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } } },
  refusals: 'invalid_request, invalid_client',
})

/** Beside those of the operations. */
export const devicePaths = {
  '/api/v1/app/device/code': code,
  '/api/v1/app/device/token': token,
  '/api/v1/app/device/revoke': revoke,
}
