import { events } from '#contract/events'
import { operations } from '#contract/index'
import { braces, errorsOf, type NamedOp } from '#contract/op'
import { errorTable } from '#kernel/errors'
import { scopes } from '#kernel/scopes'

const scopeText: Record<(typeof scopes)[number], string> = {
  'api:read': 'GET on /api/v1/growth/*',
  'api:write': 'POST, PUT and DELETE on /api/v1/growth/*',
  'mcp:use': '/api/v1/mcp; tools that change something need api:write too',
  'workspace:use': 'Workspace routes, beside api:read or api:write. An extension of this service; no key has it unasked.',
}

/** What of the plan it takes. */
const limitsOf = ({ cap, quota, feature }: NamedOp) => ({
  ...(cap ? { cap } : {}),
  ...(quota ? { quota } : {}),
  ...(feature ? { feature } : {}),
})

const endpoint = (o: NamedOp) => ({
  id: o.id,
  method: o.method,
  path: braces(o.path),
  scope: o.scope,
  tool: o.tool ?? null,
  summary: o.summary,
  errors: errorsOf(o),
  ...limitsOf(o),
})

/** What this deployment can do, for programs and agents; the same at the well-known location. */
export const capabilities = () => ({
  spec: 'tendril-capabilities/v1',
  endpoints: operations.map(endpoint),
  scopes: scopes.map((scope) => ({ scope, covers: scopeText[scope] })),
  errors: Object.entries(errorTable).map(([code, { status }]) => ({ code, status })),
  tools: operations.filter((o) => o.tool).map((o) => ({ name: o.tool, operation: o.id, scope: o.scope })),
  events,
})
