import { Type as T } from '@sinclair/typebox'
import { events } from '#contract/events'
import { operations } from '#contract/index'
import { braces, errorsOf, type NamedOp } from '#contract/op'
import { recordErrors } from '#contract/record-errors'
import { nullable, oneOf, record } from '#contract/shapes'
import { errorTable } from '#kernel/errors'
import { scopes } from '#kernel/scopes'

const scopeText: Record<(typeof scopes)[number], string> = {
  'api:read': 'GET on /api/v1/growth/*',
  'api:write': 'POST, PUT and DELETE on /api/v1/growth/*',
  'mcp:use': '/api/v1/mcp; tools that change something also need api:write',
  'workspace:use': 'Workspace routes, with api:read or api:write. An extension of this service; never granted by default.',
}

const limitsOf = ({ cap, quota, feature }: NamedOp) => ({
  ...(cap ? { cap } : {}),
  ...(quota ? { quota } : {}),
  ...(feature ? { feature } : {}),
})

const scopesOf = ({ scope, also }: NamedOp) => ({ scope, ...(also ? { also } : {}) })

const endpoint = (o: NamedOp) => ({
  id: o.id,
  method: o.method,
  path: braces(o.path),
  ...scopesOf(o),
  tool: o.tool ?? null,
  summary: o.summary,
  errors: errorsOf(o),
  ...limitsOf(o),
})

/** Record errors appear in the 200 answer of a read. */
const READ = 200

const errors = () => [
  ...Object.entries(errorTable).map(([code, { status }]) => ({ code, status, kind: 'http' as const })),
  ...recordErrors.map(({ code, summary }) => ({ code, status: READ, kind: 'record' as const, summary })),
]

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
        scope: T.String({ description: 'The scope that an API key needs. session: a signed-in person. public: anyone.' }),
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
          description: 'http: the error code of a response. record: the error of a failed generation; reading the record returns 200.',
        }),
        summary: T.Optional(T.String()),
      }),
    ),
    tools: T.Array(record({ name: T.String(), operation: T.String(), scope: T.String(), also })),
    events: T.Array(record({ type: T.String(), summary: T.String() })),
  },
  { title: 'Capabilities' },
)

/** The manifest of this deployment, for programs and agents. */
export const capabilities = () => ({
  spec: 'tendril-capabilities/v1',
  endpoints: operations.map(endpoint),
  scopes: scopes.map((scope) => ({ scope, covers: scopeText[scope] })),
  errors: errors(),
  tools: operations.filter((o) => o.tool).map((o) => ({ name: o.tool, operation: o.id, ...scopesOf(o) })),
  events: events.map(({ type, summary }) => ({ type, summary })),
})
