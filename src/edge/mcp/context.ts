/** One MCP request's way to the operations: the same gates as over REST. */
import type { Answer } from '#actors/engine/letter'
import type { Operation } from '#ops/bind'
import type { Call } from '#ops/call'

export interface McpContext {
  /** Every operation of the contract by its id, `growth.items.list`. */
  operations: ReadonlyMap<string, Operation>
  /** Who asks, as authenticated for this very request. */
  call: Call
  /** Runs an operation through all its gates. Rejects with its `AppError`. */
  run(id: string, input: unknown, more?: Pick<Call, 'idempotencyKey'>): Promise<Answer>
}
