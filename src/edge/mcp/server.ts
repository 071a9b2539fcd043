/**
 * The SDK's server, and what it is made with. It refuses malformed params as invalid, for which the
 * SDK itself would report an internal error.
 */
import {
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { Type as T, type TObject } from '@sinclair/typebox'
import { AppError } from '#kernel/errors'
import { validate } from '#ops/engine/validate'
import type { McpContext } from './context.ts'
import type { View } from './view.ts'

/** Settings of one SDK server. */
export interface ServerSettings {
  view: View
  era: 'session' | 'stateless'
  /**
   * Called with the modules that were enabled when tools were listed, or with undefined if the list
   * does not depend on any.
   */
  listed?(modules: ReadonlySet<string> | undefined): void
  /** Runs a handler with the context of its own request. */
  within<T>(ctx: ServerContext, run: (context: McpContext) => Promise<T>): Promise<T>
}

/** Makes SDK servers with their tools, resources and prompts. */
export interface ServerFactory {
  /** Returns a server that is not connected yet. */
  create(settings: ServerSettings): Server
}

const page = T.Object({ cursor: T.Optional(T.String()) })

/**
 * The params of each method, without `_meta`. Unknown fields are allowed, because the protocol may
 * add some.
 */
const params: Record<string, TObject> = {
  'tools/list': page,
  'resources/list': page,
  'resources/templates/list': page,
  'resources/read': T.Object({ uri: T.String() }),
  'prompts/list': page,
  'prompts/get': T.Object({
    name: T.String(),
    arguments: T.Optional(T.Record(T.String(), T.String())),
  }),
}

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>

export class CheckedServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler)
    const schema = params[method]
    if (!schema) return wrapped
    return async (request, ctx) => {
      try {
        validate(schema, request.params ?? {})
      } catch (cause) {
        throw asProtocolError(cause)
      }
      return wrapped(request, ctx)
    }
  }
}

/**
 * A JSON-RPC error with our error code in its data. For methods whose results cannot carry an
 * error, unlike those of tools.
 */
export const asProtocolError = (cause: unknown): ProtocolError => {
  const { code, message, conflict, status, details, retryAfter } = AppError.from(cause)
  const kind = status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams
  return new ProtocolError(kind, `${code}: ${message}`, {
    code,
    ...conflict,
    details,
    retry_after: retryAfter,
  })
}
