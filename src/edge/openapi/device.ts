/** OAuth's endpoints for the OpenAPI document: they take forms, and return OAuth's errors. */

const text = (description: string, more: object = {}) => ({ type: 'string', description, ...more })

const object = (properties: Record<string, object>, required: string[]) => ({
  type: 'object',
  properties,
  required,
})

const errorSchema = object(
  {
    error: text('A stable code for programs to act on.'),
    error_description: text('A message for people.'),
  },
  ['error', 'error_description'],
)

const json = (description: string, schema: object, headers: string[] = []) => ({
  description,
  headers: Object.fromEntries(
    ['X-Request-Id', ...headers].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  ),
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
    requestBody: {
      required: true,
      content: { 'application/x-www-form-urlencoded': { schema: form } },
    },
    responses: {
      200: done,
      400: json(`Errors: ${refusals}`, errorSchema),
      429: json('Error: temporarily_unavailable', errorSchema, ['Retry-After']),
      503: json('Error: temporarily_unavailable', errorSchema, ['Retry-After']),
    },
  },
})

const clientId = text('The name of the program.', { enum: ['tendril-cli'] })
const scope = text(
  'Space-separated scopes: api:read, api:write and mcp:use (default all three), or session alone.',
)

const code = post({
  name: 'code',
  summary: 'Request access for a device',
  description:
    'The device authorization request of RFC 8628, 3.1. The person opens verification_uri and compares the codes.',
  form: object(
    {
      client_id: clientId,
      scope,
      device_name: text('The name shown to the person, such as the host name.'),
    },
    ['client_id'],
  ),
  done: json(
    'The codes.',
    object(
      {
        device_code: text('A secret of the device.'),
        user_code: text('The code to show to the person.', { examples: ['BCDF-GHJK'] }),
        verification_uri: text('The page where the person approves or denies.'),
        verification_uri_complete: text('The same page with the code filled in.'),
        expires_in: { type: 'integer', description: 'Seconds.' },
        interval: { type: 'integer', description: 'Seconds to wait between polls.' },
      },
      [
        'device_code',
        'user_code',
        'verification_uri',
        'verification_uri_complete',
        'expires_in',
        'interval',
      ],
    ),
  ),
  refusals: 'invalid_request, invalid_client, invalid_scope',
})

const token = post({
  name: 'token',
  summary: 'Poll for the approval',
  description:
    'The device access token request of RFC 8628, 3.4. Returns the token once: an API key of the person who approved, or the access token of a one-hour session.',
  form: object(
    {
      grant_type: text('', { enum: ['urn:ietf:params:oauth:grant-type:device_code'] }),
      device_code: text('The device_code from the first response.'),
      client_id: clientId,
    },
    ['grant_type', 'device_code', 'client_id'],
  ),
  done: json(
    'The token.',
    object(
      {
        access_token: text('Send it as Bearer. Shown once.'),
        token_type: text('', { enum: ['Bearer'] }),
        expires_in: {
          type: 'integer',
          description: 'Seconds. Absent for an API key, which lasts until revoked.',
        },
        scope: text('The scopes granted, which may be fewer than requested.'),
        workspace: object({ id: text('A uuid.'), name: text('The name of the workspace.') }, [
          'id',
          'name',
        ]),
      },
      ['access_token', 'token_type', 'scope', 'workspace'],
    ),
  ),
  refusals:
    'authorization_pending, slow_down, access_denied, expired_token, invalid_grant, invalid_client, invalid_request, unsupported_grant_type',
})

const revoke = post({
  name: 'revoke',
  summary: 'Revoke a token',
  description:
    'Token revocation as in RFC 7009. Ends the API key or session. The token itself is the credential; an unknown token gets the same response.',
  form: object(
    {
      token: text('An API key, an access token or a refresh token.'),
      token_type_hint: text('Ignored.'),
      client_id: clientId,
    },
    ['token'],
  ),
  done: {
    description: 'The token no longer works.',
    headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
  },
  refusals: 'invalid_request, invalid_client',
})

export const devicePaths = {
  '/api/v1/app/device/code': code,
  '/api/v1/app/device/token': token,
  '/api/v1/app/device/revoke': revoke,
}
