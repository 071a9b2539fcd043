/**
 * `/api/v1/mcp`. Checks in this order: method, origin, credential and scope, body, rates, era, session; then the SDK. Refusals before
 * the SDK use REST's error envelope; from there on errors are JSON-RPC.
 */
import { isInitializeRequest, isLegacyRequest, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { BODY_LIMIT } from '#contract/kinds'
import { AppError, fail } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { createSlots, type Slots } from '#kernel/slots'
import type { Operation } from '#ops/engine/bind'
import type { Call, Rates } from '#ops/engine/call'
import { enabledModules } from '#store/agent/modules'
import type { Db } from '#store/engine/db'
import { urlOfNode } from '#store/engine/nodes'
import type { Authenticator, Caller as Known } from '../auth.ts'
import { forward, HOP_HEADER } from '../forward.ts'
import type { Incoming } from '../incoming.ts'
import type { Origins } from '../origin.ts'
import { errorResponse, limitHeaders, requestIdOf } from '../respond.ts'
import { assumedCallerOf, callerId, currentCallerOf, knownCallerOf, type McpCaller, refreshCallers } from './caller.ts'
import { Calls } from './calls.ts'
import type { McpContext } from './context.ts'
import { countMessages, isUrgent } from './message-count.ts'
import { rpcError } from './rpc-error.ts'
import type { ServerFactory } from './session.ts'
import { type McpLimits, mcpLimits, nodeIn, Sessions } from './sessions.ts'
import { Stateless } from './stateless.ts'
import { withTools } from './surface.ts'
import { toolIndex } from './tools.ts'
import { viewOf } from './view.ts'

export const MCP_PATH = '/api/v1/mcp'
const SESSION_HEADER = 'mcp-session-id'

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
}

/** Disposing it waits a moment for running calls, then closes every stream. */
export interface McpEndpoint extends AsyncDisposable {
  /** Throws an `AppError` when it refuses a request. */
  handle(incoming: Incoming): Promise<Response>
}

const METHODS = ['GET', 'POST', 'DELETE']
/** How long disposal waits for running calls. */
const LAST_CALLS_MS = 3_000
const POLL_MS = 20
/** Requests whose session lives in another process. Each takes a connection to it, of which Bun opens 512 at once, for letters too. */
const PASSED_ON = { name: 'mcp_calls', perParty: 64, perWorkspace: 64, total: 128, retryAfter: 5 }
/** The SDK's error code for an unknown session. */
const NO_SESSION = -32_001

interface Parts extends Omit<McpDeps, 'limits'> {
  sessions: Sessions
  stateless: Stateless
  calls: Calls
  passedOn: Slots
  limits: McpLimits
  byId: ReadonlyMap<string, Operation>
  /** By the names of their tools. */
  tools: ReadonlyMap<string, Operation>
}

export const createMcp = (deps: McpDeps): McpEndpoint => {
  const limits = { ...mcpLimits, ...deps.limits }
  const calls = new Calls()
  const refresh = (callers: readonly McpCaller[]) => refreshCallers(deps.db, callers)
  const modulesOf = (tenantId: string) => enabledModules(deps.db, tenantId)
  const shared = { ...deps, limits, calls, refresh, modulesOf }
  const sessions = new Sessions(shared)
  const stateless = new Stateless(shared)
  const byId = withTools(deps.operations)
  const parts: Parts = { ...deps, sessions, stateless, calls, passedOn: createSlots(PASSED_ON), limits, byId, tools: toolIndex(byId) }
  return {
    handle: async (incoming) => withStandardHeaders(await handle(parts, incoming), incoming.request),
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
    return errorResponse(new AppError('method_not_allowed'), requestIdOf(request), { allow: METHODS.join(', ') })
  // The MCP transport's security rules require this: it keeps other sites from using what a browser can reach.
  if (!parts.origins.isOurs(request)) fail('forbidden', 'the Origin header does not name this deployment')
  // Cookies do not count: browsers add them by themselves, and they are not forwarded to the process that holds a session.
  if (!request.headers.has('authorization')) fail('unauthenticated', 'send an API key as Authorization: Bearer <key>')
  const known = await knownCallerOf(parts, incoming)
  if (!assumedCallerOf(known)) await currentCallerOf(parts, known)
  const text = request.method === 'POST' ? await incoming.text({ limit: BODY_LIMIT, workspace: known.tenantId }) : undefined
  const body = text === undefined ? undefined : parseJson(text)
  const plain = plainIn(parts, request, { known, body })
  const caller = plain?.caller ?? (await currentCallerOf(parts, known))
  if (body === NOT_JSON) return rpcError(400, ProtocolErrorCode.ParseError, 'Parse error: the body is not valid JSON')
  // Needs the body, which may be a call of the kill switch.
  const allowances = parts.rates.messages({ ...caller, surface: 'mcp' }, countMessages(body, parts.tools))
  if (hasRequest(body)) requireRoom(parts, caller, body)
  const answer = await plain?.read(contextFor(parts, caller, requestIdOf(request)))
  const response = answer ?? (await respond(parts, request, { caller: plain ? await currentCallerOf(parts, known) : caller, text, body }))
  for (const [name, value] of Object.entries(limitHeaders(allowances))) response.headers.set(name, value)
  return response
}

/** Throws `rate_limited:mcp_calls` if as many requests of the caller, or of its workspace, run as can run at once. */
const requireRoom = ({ limits, tools, calls }: Parts, caller: McpCaller, body: unknown): void => {
  const urgent = isUrgent(body, tools)
  const most = limits.callsPerCaller + (urgent ? limits.urgentCallsPerCaller : 0)
  if (calls.of(caller) < most && (urgent || calls.ofWorkspace(caller) < limits.callsPerTenant)) return
  fail('rate_limited', 'mcp_calls', { retryAfter: 5 })
}

interface Plain {
  /** Whose access is assumed. */
  caller: McpCaller
  read(context: McpContext): Promise<Response | undefined>
}

/** A call that is answered without the SDK. Its statement checks the access, so no other statement needs to. */
const plainIn = (parts: Parts, request: Request, { known, body }: { known: Known; body: unknown }): Plain | undefined => {
  const caller = assumedCallerOf(known)
  if (!caller) return undefined
  const id = request.headers.get(SESSION_HEADER)
  const place = id === null ? parts.stateless : parts.sessions.find(id, caller)
  const call = place?.plainCallIn(request, body, parts.byId)
  return place && call && { caller, read: (context) => place.read(call, context) }
}

const respond = async (parts: Parts, request: Request, incoming: McpRequest): Promise<Response> => {
  const { caller, text, body } = incoming
  const context = contextFor(parts, caller, requestIdOf(request))
  if (text !== undefined && !(await isLegacyRequest(request, body)))
    return parts.stateless.handle(request, { context, view: viewOf(request.url), body })
  return inSession(parts, request, { ...incoming, context })
}

/** Adds the headers that every HTTP answer has. */
const withStandardHeaders = (response: Response, request: Request): Response => {
  response.headers.set('x-request-id', requestIdOf(request))
  if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store')
  return response
}

/** Whether the body holds a request, rather than only notifications (such as a cancellation) and responses. */
const hasRequest = (body: unknown): boolean =>
  [body].flat().some((one) => typeof one === 'object' && one !== null && 'method' in one && 'id' in one)

const NOT_JSON = Symbol('not JSON')

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return NOT_JSON
  }
}

const contextFor = ({ byId, log }: Parts, caller: McpCaller, requestId: string): McpContext => {
  const call: Call = { ...caller, surface: 'mcp', requestId }
  return {
    operations: byId,
    call,
    async run(id, input, more = {}) {
      const o = byId.get(id) ?? fail('not_found', 'no such operation')
      const startedAt = performance.now()
      try {
        const answer = await o.run(() => input, { ...call, ...more })
        if (log.isLevelEnabled('debug')) {
          const served = { operation: id, surface: 'mcp', status: answer.status, ms: performance.now() - startedAt }
          log.debug({ ...served, request_id: requestId, workspace: call.tenantId }, 'served')
        }
        return answer
      } catch (cause) {
        const error = AppError.from(cause)
        if (error.status >= 500)
          log.error(
            { err: error.cause ?? error, code: error.code, operation: id, request_id: requestId, workspace: call.tenantId },
            'a call failed',
          )
        throw error
      }
    },
  }
}

interface McpRequest {
  caller: McpCaller
  text: string | undefined
  body: unknown
}

interface SessionRequest extends McpRequest {
  context: McpContext
}

const inSession = async (parts: Parts, request: Request, { caller, context, text, body }: SessionRequest): Promise<Response> => {
  const id = request.headers.get(SESSION_HEADER)
  if (id === null && startsSession(body)) return openSession(parts, request, { caller, context, text, body })
  if (id === null) return rpcError(400, ProtocolErrorCode.InvalidRequest, 'Bad Request: the Mcp-Session-Id header is required')
  const session = parts.sessions.find(id, caller)
  if (session) return session.handle(request, context, body)
  const passed = parts.sessions.has(id) ? undefined : await forwardToOwner(parts, request, { id, text, caller })
  return passed ?? rpcError(404, NO_SESSION, 'Session not found')
}

const startsSession = (body: unknown): boolean => isInitializeRequest(Array.isArray(body) ? body[0] : body)

const openSession = async ({ sessions }: Parts, request: Request, { caller, context, body }: SessionRequest): Promise<Response> => {
  const session = await sessions.open(caller, viewOf(request.url))
  const response = await session.handle(request, context, body)
  if (!response.ok) await session[Symbol.asyncDispose]()
  return response
}

const forwardToOwner = async (
  { db, log, incarnation, passedOn }: Parts,
  request: Request,
  { id, text, caller }: Pick<McpRequest, 'text' | 'caller'> & { id: string },
): Promise<Response | undefined> => {
  const node = nodeIn(id)
  if (node === undefined || node === incarnation() || request.headers.has(HOP_HEADER)) return undefined
  const url = await urlOfNode(db, node)
  if (url === undefined) return undefined
  const gone = new AbortController()
  const onEnd = passedOn.take({ party: callerId(caller), workspace: caller.tenantId, giveUp: () => gone.abort() })
  return forward(request, { url, body: text, signal: gone.signal, onEnd, log })
}
