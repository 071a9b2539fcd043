/** REST: a loop over the operations, the public documents, and one place where errors become answers. */
import { Elysia } from 'elysia'
import { isQuery } from '#contract/op'
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import type { Operation } from '#ops/bind'
import type { Call } from '#ops/call'
import { LETTERS_PATH, type NodeSignature } from '#port/nodes'
import type { Authenticator } from './auth.ts'
import { inputOf } from './input.ts'
import { receiveLetter } from './internal.ts'
import { answerResponse, documentResponse, errorResponse, requestIdOf, type StaticDocument } from './respond.ts'

export interface HttpDeps {
  operations: Operation[]
  /** Taken from other processes alone. */
  internal: Operation[]
  authenticator: Authenticator
  log: Log
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
  for (const o of deps.operations) {
    app.route(o.method, o.path, ({ request, params }) => serve(deps, o, { request, params }), { parse: 'none' })
    allowed.set(o.path, [...(allowed.get(o.path) ?? []), o.method])
  }
  for (const [path, respond] of publicRoutes(deps)) {
    for (const method of PUBLIC) app.route(method, path, ({ request }) => respond(request), { parse: 'none' })
    allowed.set(path, PUBLIC)
  }
  const letters = receiveLetter({ ...deps, operations: [...deps.operations, ...deps.internal] })
  app.route('POST', LETTERS_PATH, ({ request }) => letters(request), { parse: 'none' })
  for (const [path, methods] of allowed)
    app.all(path, ({ request }) => errorResponse(new AppError('method_not_allowed'), requestIdOf(request), { allow: allowOf(methods) }), {
      parse: 'none',
    })
  return app
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

interface Incoming {
  request: Request
  /** Decoded; absent where the path has none. */
  params: Record<string, string> | undefined
}

const serve = async (deps: HttpDeps, o: Operation, { request, params }: Incoming): Promise<Response> => {
  const requestId = requestIdOf(request)
  const startedAt = performance.now()
  const isTold = deps.log.isLevelEnabled('debug')
  const grant = await deps.authenticator.authenticate(request.headers.get('authorization'))
  try {
    const call: Call = {
      tenantId: grant.tenantId,
      principal: { kind: 'key', id: grant.id },
      scopes: new Set(grant.scopes),
      role: 'owner',
      surface: 'rest',
      requestId,
      idempotencyKey: isQuery(o) ? undefined : (request.headers.get('idempotency-key') ?? undefined),
    }
    const answer = await o.run(() => inputOf(o, request, params), call)
    if (isTold) {
      const told = {
        operation: o.id,
        status: answer.status,
        ms: performance.now() - startedAt,
        request_id: requestId,
        tenant: grant.tenantId,
      }
      deps.log.debug(told, 'served')
    }
    return answerResponse(answer, requestId)
  } catch (cause) {
    if (cause instanceof AppError && cause.status < 500 && cause.code !== 'rate_limited') await deps.authenticator.confirm(grant)
    throw cause
  }
}

const failed = ({ log }: HttpDeps, request: Request, cause: unknown): Response => {
  const requestId = requestIdOf(request)
  const error = AppError.from(cause)
  if (error.status >= 500)
    log.error({ err: error.cause ?? error, code: error.code, method: request.method, request_id: requestId }, 'a request failed')
  return errorResponse(error, requestId)
}
