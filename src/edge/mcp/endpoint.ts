/**
 * `/api/v1/mcp`. Checks method, origin, credential and scope, body, rates, era and session, in this
 * order. Then the SDK takes over. Refusals before the SDK use REST's error envelope; later errors
 * are JSON-RPC.
 */
import { isLegacyRequest, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { BODY_LIMIT } from '#contract/kinds'
import { AppError, fail } from '#kernel/errors'
import { FairLimit } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'
import type { Tracer } from '#kernel/trace'
import type { Operation } from '#ops/engine/bind'
import type { Rates } from '#ops/engine/call'
import { enabledModules } from '#store/agent/modules'
import type { Db } from '#store/engine/db'
import type { Authenticator, AuthenticatedCaller as Known } from '../auth.ts'
import type { Incoming } from '../incoming.ts'
import type { Origins } from '../origin.ts'
import { errorResponse, limitHeaders, requestIdOf } from '../respond.ts'
import {
  assumedCallerOf,
  currentCallerOf,
  knownCallerOf,
  type McpCaller,
  refreshCallers,
} from './caller.ts'
import { Calls } from './calls.ts'
import { buildContext, type McpContext } from './context.ts'
import { type McpRequest, PASSED_ON, SESSION_HEADER, serveSession } from './in-session.ts'
import { countMessages, isUrgent } from './message-count.ts'
import { rpcError } from './rpc-error.ts'
import type { ServerFactory } from './server.ts'
import { type McpLimits, McpSessionRegistry, mcpLimits } from './sessions.ts'
import { Stateless } from './stateless.ts'
import { toolsById } from './surface.ts'
import { toolIndex } from './tools.ts'
import { parseView } from './view.ts'

export const MCP_PATH = '/api/v1/mcp'

export interface McpDeps {
  authenticator: Authenticator
  operations: Operation[]
  db: Db
  log: Log
  servers: ServerFactory
  origins: Origins
  rates: Rates
  incarnation(): string
  limits?: Partial<McpLimits>
  tracer?: Tracer | undefined
}

/** Disposing it waits a moment for running calls, then closes every stream. */
export interface McpEndpoint extends AsyncDisposable {
  /** Throws an `AppError` when it refuses a request. */
  handle(incoming: Incoming): Promise<Response>
  /** The number of open sessions. */
  sessions(): number
}

const METHODS = ['GET', 'POST', 'DELETE']
/** How long disposal waits for running calls. */
const LAST_CALLS_MS = 3_000
const POLL_MS = 20

interface Parts extends Omit<McpDeps, 'limits'> {
  sessions: McpSessionRegistry
  stateless: Stateless
  calls: Calls
  passedOn: FairLimit
  limits: McpLimits
  byId: ReadonlyMap<string, Operation>
  /** Operations by the names of their tools. */
  tools: ReadonlyMap<string, Operation>
}

export const createMcp = (deps: McpDeps): McpEndpoint => {
  const limits = { ...mcpLimits, ...deps.limits }
  const calls = new Calls()
  const refresh = (callers: readonly McpCaller[]) => refreshCallers(deps.db, callers)
  const modulesOf = (tenantId: string) => enabledModules(deps.db, tenantId)
  const shared = { ...deps, limits, calls, refresh, modulesOf }
  const sessions = new McpSessionRegistry(shared)
  const stateless = new Stateless(shared)
  const byId = toolsById(deps.operations)
  const parts: Parts = {
    ...deps,
    sessions,
    stateless,
    calls,
    passedOn: new FairLimit(PASSED_ON),
    limits,
    byId,
    tools: toolIndex(byId),
  }
  return {
    handle: async (incoming) =>
      withStandardHeaders(await handle(parts, incoming), incoming.request),
    sessions: () => sessions.size,
    async [Symbol.asyncDispose]() {
      for (const one of [sessions, stateless]) one.refuse()
      const until = performance.now() + LAST_CALLS_MS
      while (calls.total > 0 && performance.now() < until) await Bun.sleep(POLL_MS)
      await Promise.all([sessions[Symbol.asyncDispose](), stateless[Symbol.asyncDispose]()])
    },
  }
}

const handle = async (parts: Parts, incoming: Incoming): Promise<Response> => {
  const { request } = incoming
  if (!METHODS.includes(request.method))
    return errorResponse(new AppError('method_not_allowed'), requestIdOf(request), {
      allow: METHODS.join(', '),
    })
  // The MCP transport's security rules require this. It keeps other sites from using what a browser
  // can reach.
  if (!parts.origins.isOurs(request))
    fail('forbidden', 'the Origin header does not name this deployment')
  // Cookies do not count, because browsers add them by themselves, and because they are not
  // forwarded to the process that holds a session.
  if (!request.headers.has('authorization'))
    fail('unauthenticated', 'send an API key as Authorization: Bearer <key>')
  const known = await knownCallerOf(parts, incoming)
  if (!assumedCallerOf(known)) await currentCallerOf(parts, known)
  const text =
    request.method === 'POST'
      ? await incoming.text({ limit: BODY_LIMIT, workspace: known.tenantId })
      : undefined
  const body = text === undefined ? undefined : parseJson(text)
  const plain = plainIn(parts, request, { known, body })
  const caller = plain?.caller ?? (await currentCallerOf(parts, known))
  if (body === NOT_JSON)
    return rpcError(400, ProtocolErrorCode.ParseError, 'Parse error: the body is not valid JSON')
  // This needs the body, because the kill switch may be called in it.
  const allowances = parts.rates.messages(
    { ...caller, surface: 'mcp' },
    countMessages(body, parts.tools),
  )
  if (hasRequest(body)) requireRoom(parts, caller, body)
  const answer = await plain?.read(buildContext(parts, caller, request))
  const response =
    answer ??
    (await respond(parts, request, {
      caller: plain ? await currentCallerOf(parts, known) : caller,
      text,
      body,
    }))
  for (const [name, value] of Object.entries(limitHeaders(allowances)))
    response.headers.set(name, value)
  return response
}

/**
 * Throws `rate_limited:mcp_calls` if the caller, or its workspace, already has as many requests
 * running as it may.
 */
const requireRoom = ({ limits, tools, calls }: Parts, caller: McpCaller, body: unknown): void => {
  const urgent = isUrgent(body, tools)
  const most = limits.callsPerCaller + (urgent ? limits.urgentCallsPerCaller : 0)
  if (calls.of(caller) < most && (urgent || calls.ofWorkspace(caller) < limits.callsPerTenant))
    return
  fail('rate_limited', 'mcp_calls', { retryAfter: 5 })
}

interface Plain {
  /** The caller whose access is assumed. */
  caller: McpCaller
  read(context: McpContext): Promise<Response | undefined>
}

/**
 * A call that is answered without the SDK. Its own statement checks the access, so that no other
 * statement needs to.
 */
const plainIn = (
  parts: Parts,
  request: Request,
  { known, body }: { known: Known; body: unknown },
): Plain | undefined => {
  const caller = assumedCallerOf(known)
  if (!caller) return undefined
  const id = request.headers.get(SESSION_HEADER)
  const place = id === null ? parts.stateless : parts.sessions.find(id, caller)
  const call = place?.plainCallIn(request, body, parts.byId)
  return place && call && { caller, read: (context) => place.read(call, context) }
}

const respond = async (parts: Parts, request: Request, incoming: McpRequest): Promise<Response> => {
  const { caller, text, body } = incoming
  const context = buildContext(parts, caller, request)
  if (text !== undefined && !(await isLegacyRequest(request, body)))
    return parts.stateless.handle(request, { context, view: parseView(request.url), body })
  return serveSession(parts, request, { ...incoming, context })
}

/** Adds the headers that every HTTP answer has. */
const withStandardHeaders = (response: Response, request: Request): Response => {
  response.headers.set('x-request-id', requestIdOf(request))
  if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store')
  return response
}

/**
 * Whether the body contains a request, and not only responses and notifications such as a
 * cancellation.
 */
const hasRequest = (body: unknown): boolean =>
  [body]
    .flat()
    .some((one) => typeof one === 'object' && one !== null && 'method' in one && 'id' in one)

const NOT_JSON = Symbol('not JSON')

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return NOT_JSON
  }
}
