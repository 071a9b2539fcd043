/** What an MCP request needs to run operations. */
import type { Answer } from '#actors/engine/letter'
import type { Operation } from '#ops/engine/bind'
import type { Call } from '#ops/engine/call'

export interface McpContext {
  /** Every operation of the contract by id, such as `growth.items.list`. */
  operations: ReadonlyMap<string, Operation>
  /** The caller, authenticated for this request. */
  call: Call
  /** Runs an operation with the same checks as over REST. Rejects with its `AppError`. */
  run(id: string, input: unknown, more?: Pick<Call, 'idempotencyKey'>): Promise<Answer>
}
