/**
 * MCP requests within a session. The first one opens the session. A request whose session lives in
 * another process is passed on to that process.
 */
import { isInitializeRequest, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Slots } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'
import type { Db } from '#store/engine/db'
import { urlOfNode } from '#store/engine/nodes'
import { forward, HOP_HEADER } from '../forward.ts'
import { callerId, type McpCaller } from './caller.ts'
import type { McpContext } from './context.ts'
import { rpcError } from './rpc-error.ts'
import { type McpSessionRegistry, nodeIn } from './sessions.ts'
import { parseView } from './view.ts'

export const SESSION_HEADER = 'mcp-session-id'
/**
 * The limit for requests whose session lives in another process. Each takes a connection to it, and
 * Bun opens 512 at once, which letters need as well.
 */
export const PASSED_ON = {
  name: 'mcp_calls',
  share: 64,
  perWorkspace: 64,
  total: 128,
  retryAfter: 5,
}
/** The SDK's error code for an unknown session. */
const NO_SESSION = -32_001

interface SessionParts {
  db: Db
  log: Log
  sessions: McpSessionRegistry
  passedOn: Slots
  incarnation(): string
}

export interface McpRequest {
  caller: McpCaller
  text: string | undefined
  body: unknown
}

interface SessionRequest extends McpRequest {
  context: McpContext
}

export const serveSession = async (
  parts: SessionParts,
  request: Request,
  { caller, context, text, body }: SessionRequest,
): Promise<Response> => {
  const id = request.headers.get(SESSION_HEADER)
  if (id === null && startsSession(body))
    return openSession(parts, request, { caller, context, text, body })
  if (id === null)
    return rpcError(
      400,
      ProtocolErrorCode.InvalidRequest,
      'Bad Request: the Mcp-Session-Id header is required',
    )
  const session = parts.sessions.find(id, caller)
  if (session) return session.handle(request, context, body)
  const passed = parts.sessions.has(id)
    ? undefined
    : await forwardToOwner(parts, request, { id, text, caller })
  return passed ?? rpcError(404, NO_SESSION, 'Session not found')
}

const startsSession = (body: unknown): boolean =>
  isInitializeRequest(Array.isArray(body) ? body[0] : body)

const openSession = async (
  { sessions }: SessionParts,
  request: Request,
  { caller, context, body }: SessionRequest,
): Promise<Response> => {
  const session = await sessions.open(caller, parseView(request.url))
  const response = await session.handle(request, context, body)
  if (!response.ok) await session[Symbol.asyncDispose]()
  return response
}

const forwardToOwner = async (
  { db, log, incarnation, passedOn }: SessionParts,
  request: Request,
  { id, text, caller }: Pick<McpRequest, 'text' | 'caller'> & { id: string },
): Promise<Response | undefined> => {
  const node = nodeIn(id)
  if (node === undefined || node === incarnation() || request.headers.has(HOP_HEADER))
    return undefined
  const url = await urlOfNode(db, node)
  if (url === undefined) return undefined
  const gone = new AbortController()
  const onEnd = passedOn.take({
    party: callerId(caller),
    workspace: caller.tenantId,
    giveUp: () => gone.abort(),
  })
  return forward(request, { url, body: text, signal: gone.signal, onEnd, log })
}
