/** What an MCP request needs to run operations. */
import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server'
import type { Answer } from '#actors/engine/letter'
import { AppError, fail } from '#kernel/errors'
import type { Log } from '#kernel/log'
import type { Tracer } from '#kernel/trace'
import type { Operation } from '#ops/engine/bind'
import type { Call } from '#ops/engine/call'
import { requestIdOf } from '../respond.ts'
import { tracedCall } from '../traced.ts'
import type { McpCaller } from './caller.ts'

export interface McpContext {
  /** Every operation of the contract by id, such as `growth.items.list`. */
  operations: ReadonlyMap<string, Operation>
  /** The caller, authenticated for this request. */
  call: Call
  /**
   * Runs an operation with the same checks as over REST. Rejects with the operation's `AppError`.
   */
  run(id: string, input: unknown, more?: Pick<Call, 'idempotencyKey'>): Promise<Answer>
}

/** Carries a request's context through the SDK, in its field for authentication. */
export const authInfoOf = (context: McpContext): AuthInfo => ({
  token: '',
  clientId: context.call.principal.id,
  scopes: [...context.call.scopes],
  extra: { context },
})

export const requireContext = (ctx: ServerContext): McpContext =>
  (ctx.http?.authInfo?.extra?.context as McpContext | undefined) ??
  fail('internal', 'a request without its context')

interface ContextParts {
  byId: ReadonlyMap<string, Operation>
  log: Log
  tracer?: Tracer | undefined
}

export const buildContext = (
  { byId, log, tracer }: ContextParts,
  caller: McpCaller,
  request: Request,
): McpContext => {
  const requestId = requestIdOf(request)
  const call: Call = { ...caller, surface: 'mcp', requestId }
  return {
    operations: byId,
    call,
    async run(id, input, more = {}) {
      const o = byId.get(id) ?? fail('not_found', 'no such operation')
      const startedAt = performance.now()
      try {
        const asked = () => o.run(() => input, { ...call, ...more })
        const answer = await (tracer ? tracedCall(tracer, o, { call, request }, asked) : asked())
        if (log.isLevelEnabled('debug')) {
          const served = {
            operation: id,
            surface: 'mcp',
            status: answer.status,
            ms: performance.now() - startedAt,
          }
          log.debug({ ...served, request_id: requestId, workspace: call.tenantId }, 'served')
        }
        return answer
      } catch (cause) {
        const error = AppError.from(cause)
        if (error.status >= 500)
          log.error(
            {
              err: error.cause ?? error,
              code: error.code,
              operation: id,
              request_id: requestId,
              workspace: call.tenantId,
            },
            'a call failed',
          )
        throw error
      }
    },
  }
}
