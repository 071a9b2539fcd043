/** The form of the capability manifest. */
import { Type as T } from '@sinclair/typebox'
import { nullable, oneOf, record } from '#contract/shapes'

const limit = T.Optional(T.String())
const also = T.Optional(T.String({ description: 'A second scope that an API key needs too.' }))

export const Manifest = record(
  {
    spec: T.String(),
    endpoints: T.Array(
      record({
        id: T.String(),
        method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
        path: T.String(),
        scope: T.String({
          description:
            'The scope that an API key needs. session: a signed-in person. public: anyone.',
        }),
        also,
        tool: nullable(T.String({ description: 'The MCP tool.' })),
        summary: T.String(),
        errors: T.Array(T.String()),
        cap: limit,
        quota: limit,
        feature: limit,
      }),
    ),
    scopes: T.Array(record({ scope: T.String(), covers: T.String() })),
    errors: T.Array(
      record({
        code: T.String(),
        status: T.Integer({ description: 'The HTTP status.' }),
        kind: oneOf(['http', 'record'], {
          description:
            'http: the error code of a response. record: the error of a failed generation; reading the record returns 200.',
        }),
        summary: T.Optional(T.String()),
      }),
    ),
    tools: T.Array(
      record({
        name: T.String(),
        operation: nullable(
          T.String({
            description:
              'The endpoint that it calls, by its id. null: it reads a record of any kind.',
          }),
        ),
        toolset: T.String({ description: 'What ?toolsets= names to list it.' }),
        module: T.Optional(
          T.String({
            description:
              'Listed without ?toolsets= only once the workspace has enabled this module.',
          }),
        ),
        scope: T.String(),
        also,
      }),
    ),
    events: T.Array(record({ type: T.String(), summary: T.String() })),
  },
  { title: 'Capabilities' },
)
