/** REST: a loop over the operations, the public documents, and one place where errors become answers. */
import { type Context, Elysia } from 'elysia'
import { AppError } from '#kernel/errors'
import type { Door, Download, Operation } from '#ops/bind'
import { LETTERS_PATH, type NodeSignature } from '#port/nodes'
import { receiveLetter } from './internal.ts'
import { MCP_PATH, type McpEndpoint } from './mcp/endpoint.ts'
import { answerResponse, documentResponse, errorResponse, requestIdOf, type StaticDocument } from './respond.ts'
import type { Route } from './route.ts'
import { admit, type Incoming, type ServeDeps, serve, serveDownload } from './serve.ts'
import { addressOf, type Trust } from './visit.ts'

export interface HttpDeps extends ServeDeps {
  operations: Operation[]
  doors: Door[]
  downloads: Download[]
  /** Served beside them: OAuth's endpoints, pages. */
  routes: Route[]
  /** Taken from other processes alone. */
  internal: Operation[]
  mcp: Pick<McpEndpoint, 'handle'>
  trust: Trust
  documents: { openapi: StaticDocument; capabilities: StaticDocument }
  commit: string | null
  signature: NodeSignature
  /** Whether this process may answer for the workspaces that it owns. */
  serving(): boolean
}

/** Bun would answer a larger body with a bare 413; ours has the envelope. Bun reads ahead of us by no more than a few buffers. */
const SERVER_BODY_LIMIT = Number.MAX_SAFE_INTEGER
/** The router takes the path from a fixed position in the URL, which a shorter host would shift. */
const SHORTEST_HOST = 4

const PUBLIC = ['GET', 'HEAD']

export const createHttp = (deps: HttpDeps) => {
  const app = new Elysia({ serve: { idleTimeout: 60, maxRequestBodySize: SERVER_BODY_LIMIT } })
    .onRequest(({ request }) => {
      if ((request.headers.get('host') ?? 'absent').length < SHORTEST_HOST)
        return errorResponse(new AppError('invalid_input', 'the Host header is not valid'), requestIdOf(request))
    })
    .onError(({ request, code, error }) => failed(deps, request, code === 'NOT_FOUND' ? new AppError('not_found', 'no such path') : error))
  const allowed = new Map<string, string[]>()
  const incoming = ({ request, params, server }: Context): Incoming => ({
    request,
    params: params as Record<string, string> | undefined,
    address: () => addressOf(request, server?.requestIP(request)?.address, deps.trust),
  })
  const allow = (path: string, method: string) => allowed.set(path, [...(allowed.get(path) ?? []), method])
  for (const o of deps.operations) {
    app.route(o.method, o.path, (context) => serve(deps, o, incoming(context as Context)), { parse: 'none' })
    allow(o.path, o.method)
  }
  for (const o of deps.downloads) {
    app.route(o.method, o.path, (context) => serveDownload(deps, o, incoming(context as Context)), { parse: 'none' })
    allow(o.path, o.method)
  }
  for (const o of deps.doors) {
    app.route(o.method, o.path, (context) => admit(deps, o, incoming(context as Context)), { parse: 'none' })
    allow(o.path, o.method)
  }
  for (const { method, path, respond } of deps.routes) {
    app.route(method, path, (context) => respond(incoming(context as Context)), { parse: 'none' })
    allow(path, method)
  }
  for (const [path, respond] of publicRoutes(deps)) {
    for (const method of PUBLIC) app.route(method, path, ({ request }) => respond(request), { parse: 'none' })
    allowed.set(path, PUBLIC)
  }
  app.all(MCP_PATH, ({ request }) => deps.mcp.handle(request), { parse: 'none' })
  const letters = receiveLetter({ ...deps, operations: [...deps.operations, ...deps.internal] })
  app.route('POST', LETTERS_PATH, ({ request }) => letters(request), { parse: 'none' })
  for (const [path, methods] of allowed) {
    const refuse = ({ request }: { request: Request }) =>
      errorResponse(new AppError('method_not_allowed'), requestIdOf(request), { allow: allowOf(methods) })
    for (const method of takenFrom(path, allowed)) app.route(method, path, refuse, { parse: 'none' })
    app.all(path, refuse, { parse: 'none' })
  }
  return app
}

/** Methods that another path with a parameter would answer in the place of this one: to the router `/:id` is also `/accept`. */
const takenFrom = (path: string, allowed: Map<string, string[]>): string[] => {
  const isAlso = (other: string) => new RegExp(`^${other.replace(/:[a-z_]+/gi, '[^/]+')}$`).test(path)
  const others = [...allowed].flatMap(([other, methods]) => (other !== path && isAlso(other) ? methods : []))
  return others.filter((method) => !allowed.get(path)!.includes(method))
}

/** What answers GET answers HEAD too. */
const allowOf = (methods: string[]): string => [...new Set(methods.flatMap((method) => (method === 'GET' ? PUBLIC : [method])))].join(', ')

const publicRoutes = ({ documents, commit }: HttpDeps): [string, (request: Request) => Response][] => {
  const startedAt = performance.now()
  const health = (request: Request) => {
    const body = { status: 'ok', uptime_seconds: Math.floor((performance.now() - startedAt) / 1_000), commit }
    return answerResponse({ status: 200, body: JSON.stringify(body) }, requestIdOf(request))
  }
  return [
    ['/health', health],
    ['/api/v1/openapi.json', (request) => documentResponse(documents.openapi, request)],
    ['/api/v1/capabilities', (request) => documentResponse(documents.capabilities, request)],
    ['/.well-known/tendril.json', (request) => documentResponse(documents.capabilities, request)],
  ]
}

const failed = ({ log }: HttpDeps, request: Request, cause: unknown): Response => {
  const requestId = requestIdOf(request)
  const error = AppError.from(cause)
  if (error.status >= 500)
    log.error({ err: error.cause ?? error, code: error.code, method: request.method, request_id: requestId }, 'a request failed')
  return errorResponse(error, requestId)
}
