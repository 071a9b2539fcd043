/** The capability manifest: what this deployment offers, for programs and agents. */
import { events } from '#contract/events'
import { operations } from '#contract/index'
import { braces, type NamedOp } from '#contract/op'
import { errorsOf } from '#contract/op-errors'
import { recordErrors } from '#contract/record-errors'
import { type ErrorCode, errorTable } from '#kernel/errors'
import { scopes } from '#kernel/scopes'
import type { Operation } from '#ops/engine/bind'
import { CALL, isCapability } from './mcp/capabilities.ts'
import { isOfAnyKind } from './mcp/records.ts'
import { toolsById } from './mcp/surface.ts'
import { toolsOf } from './mcp/tools.ts'
import { moduleOf, toolsetOf } from './mcp/view.ts'
import { besidePaths } from './openapi/beside.ts'

const scopeText: Record<(typeof scopes)[number], string> = {
  'api:read': 'GET on /api/v1/growth/*',
  'api:write': 'POST, PUT and DELETE on /api/v1/growth/*',
  'mcp:use': '/api/v1/mcp; tools that change something also need api:write',
  'workspace:use':
    'Workspace routes, with api:read or api:write. An extension of this service; never granted by default.',
}

const limitsOf = ({ cap, quota, feature }: NamedOp) => ({
  ...(cap ? { cap } : {}),
  ...(quota ? { quota } : {}),
  ...(feature ? { feature } : {}),
})

const scopesOf = ({ scope, also }: Pick<NamedOp, 'scope' | 'also'>) => ({
  scope,
  ...(also ? { also } : {}),
})

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

interface Described {
  operationId: string
  description: string
  security: { apiKey?: string[] }[]
  responses: Record<string, { description?: string }>
}

const codes = Object.keys(errorTable) as ErrorCode[]

/** OAuth's endpoints have errors of their own, which are not among our codes. */
const errorsIn = (responses: Described['responses']): ErrorCode[] => {
  const words = new Set(
    Object.values(responses).flatMap(({ description = '' }) => description.match(/[a-z_]+/g) ?? []),
  )
  return codes.filter((code) => words.has(code))
}

/** What is served besides the operations, as the OpenAPI document describes it. */
const listOthers = () =>
  Object.entries(besidePaths(() => ({})) as Record<string, Record<string, Described>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(
        ([method, { operationId, description, security, responses }]) => ({
          id: operationId,
          method: method.toUpperCase(),
          path,
          scope: security[0]?.apiKey?.[0] ?? 'public',
          tool: null,
          summary: description,
          errors: errorsIn(responses),
        }),
      ),
  )

/** Record errors appear in a read's answer with status 200. */
const READ = 200

const errors = () => [
  ...Object.entries(errorTable).map(([code, { status }]) => ({
    code,
    status,
    kind: 'http' as const,
  })),
  ...recordErrors.map(({ code, summary }) => ({
    code,
    status: READ,
    kind: 'record' as const,
    summary,
  })),
]

/**
 * Every tool that any client of this server can list. Runs nothing, because the declarations are
 * enough.
 */
const tools = () =>
  toolsOf(toolsById(operations as unknown as Operation[])).map((o) => {
    const module = moduleOf(o)
    const endpoint = isCapability(o) ? CALL : o.id
    const operation = isOfAnyKind(o) ? null : endpoint
    return {
      name: o.tool!,
      operation,
      toolset: toolsetOf(o),
      ...(module ? { module } : {}),
      ...scopesOf(o),
    }
  })

/** The manifest of this deployment. */
export const capabilityManifest = () => ({
  spec: 'tendril-capabilities/v1',
  endpoints: [...operations.map(endpoint), ...listOthers()],
  scopes: scopes.map((scope) => ({ scope, covers: scopeText[scope] })),
  errors: errors(),
  tools: tools(),
  events: events.map(({ type, summary }) => ({ type, summary })),
})
