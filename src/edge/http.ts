/** The HTTP server: a route for every operation, document, page and protocol. */
import { Elysia } from 'elysia'
import { AppError } from '#kernel/errors'
import { type Bound, workspaceOperations } from '#ops/engine/bind'
import { LETTERS_PATH, type NodeSignature } from '#port/nodes'
import {
  type AnsweringDeps,
  anonymous,
  answering,
  NO_SUCH_PATH,
  type Respond,
  withoutBody,
} from './answering.ts'
import { documentResponse, type StaticDocument } from './document.ts'
import type { Incoming } from './incoming.ts'
import { receiveLetter } from './internal.ts'
import { MCP_PATH, type McpEndpoint } from './mcp/endpoint.ts'
import { type Readiness, readyResponse } from './ready.ts'
import { referenceRoutes } from './reference.ts'
import { answerResponse, errorResponse, requestIdOf } from './respond.ts'
import type { Route } from './route.ts'
import { type ServeDeps, serve } from './serve.ts'

export interface HttpDeps extends ServeDeps, AnsweringDeps {
  operations: Bound[]
  /** OAuth's endpoints and pages. */
  routes: Route[]
  /** Operations that only other processes may call. */
  internal: Bound[]
  mcp: Pick<McpEndpoint, 'handle'>
  documents: { openapi: StaticDocument; capabilities: StaticDocument }
  commit: string | null
  signature: NodeSignature
  /** Whether this process may answer for the workspaces that it owns. */
  serving(): boolean
  /** False until the first workspace exists; health reports it. */
  ready(): boolean
  /** Whether this process can do its work. */
  readiness(): Promise<Readiness>
}

/**
 * Turned off, because Bun would answer a larger body with a bare 413, without our error body. Bun
 * only reads a few buffers ahead.
 */
const SERVER_BODY_LIMIT = Number.MAX_SAFE_INTEGER
/**
 * Longer than a body may take, so that a late body gets its answer before the connection closes.
 */
const IDLE_S = 75
/** The router looks for the path at a fixed offset in the URL, which a shorter host would shift. */
const SHORTEST_HOST = 4

const PUBLIC = ['GET', 'HEAD']
/** Not rate limited, because they are for health checks. */
const CHECKS = ['/health', '/ready']

interface Endpoint {
  method: string
  path: string
  respond: Respond
}

const endpointsOf = (deps: HttpDeps): Endpoint[] => {
  const published = publicRoutes(deps).map(([path, answer]) => {
    const respond: Respond = ({ request }) => answer(request)
    return { path, respond: CHECKS.includes(path) ? respond : anonymous(deps, respond) }
  })
  return [
    ...deps.operations.map((o) => ({
      ...o,
      respond: (incoming: Incoming) => serve(deps, o, incoming),
    })),
    ...deps.routes.map(({ method, path, respond }) => ({
      method,
      path,
      respond: anonymous(deps, respond),
    })),
    ...PUBLIC.flatMap((method) => published.map((one) => ({ method, ...one }))),
  ]
}

/**
 * The framework reads the source text of each function here, and prepares what any of them may use
 * for every request. If a function passed on the whole context, headers, cookies and query would be
 * parsed for every request. So each function names the parts that it needs.
 */
export const createHttp = (deps: HttpDeps) => {
  const app = new Elysia({ serve: { idleTimeout: IDLE_S, maxRequestBodySize: SERVER_BODY_LIMIT } })
  const { answer, refuse } = answering(deps, (request) => app.server?.requestIP(request)?.address)
  app
    .onRequest(({ request }) => {
      if ((request.headers.get('host') ?? 'absent').length < SHORTEST_HOST)
        return refuse(request, new AppError('invalid_input', 'the Host header is not valid'))
    })
    .onError(({ request, code, error }) =>
      refuse(request, code === 'NOT_FOUND' ? new AppError('not_found', NO_SUCH_PATH) : error),
    )
  const route = (method: string, path: string, respond: Respond) => {
    const begin = PUBLIC.includes(method) ? withoutBody(respond) : respond
    if (method === 'ALL')
      app.all(path, ({ request, params }) => answer(request, params, begin), { parse: 'none' })
    else
      app.route(method, path, ({ request, params }) => answer(request, params, begin), {
        parse: 'none',
      })
  }
  const allowed = new Map<string, string[]>()
  for (const { method, path, respond } of endpointsOf(deps)) {
    route(method, path, respond)
    allowed.set(path, [...(allowed.get(path) ?? []), method])
  }
  route('ALL', MCP_PATH, (incoming) => deps.mcp.handle(incoming))
  const letters = receiveLetter({
    ...deps,
    operations: workspaceOperations([...deps.operations, ...deps.internal]),
  })
  route('POST', LETTERS_PATH, letters)
  const patterns = [...allowed.keys()].map((path) => [path, patternOf(path)] as const)
  for (const [path, methods] of allowed) {
    const allow = allowOf(methods)
    const refuseMethod = anonymous(deps, ({ request }) =>
      errorResponse(new AppError('method_not_allowed'), requestIdOf(request), { allow }),
    )
    for (const method of [...shadowedMethods(path, allowed, patterns), 'ALL'])
      route(method, path, refuseMethod)
  }
  return app
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/:[a-z_]+/gi, '[^/]+')}$`)

/**
 * The methods of this path that a path with a parameter would otherwise answer: to the router,
 * `/:id` also matches `/accept`.
 */
const shadowedMethods = (
  path: string,
  allowed: Map<string, string[]>,
  patterns: (readonly [string, RegExp])[],
): string[] => {
  const others = patterns.flatMap(([other, pattern]) =>
    other !== path && pattern.test(path) ? allowed.get(other)! : [],
  )
  return others.filter((method) => !allowed.get(path)!.includes(method))
}

/** The Allow header. A path that answers GET also answers HEAD. */
const allowOf = (methods: string[]): string =>
  [...new Set(methods.flatMap((method) => (method === 'GET' ? PUBLIC : [method])))].join(', ')

const publicRoutes = ({
  documents,
  commit,
  ready,
  readiness,
}: HttpDeps): [string, (request: Request) => Response | Promise<Response>][] => {
  const startedAt = performance.now()
  const health = (request: Request) => {
    if (!ready())
      return errorResponse(new AppError('unavailable', 'starting'), requestIdOf(request))
    const body = {
      status: 'ok',
      uptime_seconds: Math.floor((performance.now() - startedAt) / 1_000),
      commit,
    }
    return answerResponse({ status: 200, body: JSON.stringify(body) }, requestIdOf(request))
  }
  return [
    ['/health', health],
    ['/ready', (request) => readyResponse(readiness, request)],
    ['/api/v1/openapi.json', (request) => documentResponse(documents.openapi, request)],
    ['/api/v1/capabilities', (request) => documentResponse(documents.capabilities, request)],
    ['/.well-known/tendril.json', (request) => documentResponse(documents.capabilities, request)],
    ...referenceRoutes,
  ]
}
