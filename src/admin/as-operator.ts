/**
 * Runs the operations of a workspace for the operator, in the process that owns the workspace,
 * which is a running server if there is one. They pass the gate, and leave audit rows in the
 * operator's name.
 */
import { AppError, fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { scopes } from '#kernel/scopes'
import { workspaceOperations } from '#ops/engine/bind'
import type { Call } from '#ops/engine/call'
import { createOperations } from '#ops/index'
import { joinDatabase } from '#server/database'
import { openWorkplace, type Workplace } from '#server/workplace'
import { tenantState } from '#store/app/tenants'
import { operator } from '#store/engine/principal'
import type { AdminContext } from './flags.ts'

/** Runs an operation by its id, and returns its answer. */
export type RunOperation = (id: string, input?: object) => Promise<object>

const runnerOf = ({ world }: Workplace, tenantId: string): RunOperation => {
  const operations = workspaceOperations(createOperations(world))
  return async (id, input = {}) => {
    const operation = operations.find((one) => one.id === id) ?? fail('internal')
    const call: Call = {
      tenantId,
      principal: operator,
      scopes: new Set([...scopes, 'session']),
      surface: 'admin',
      requestId: newId(),
    }
    return JSON.parse((await operation.run(() => input, call)).body)
  }
}

const refuseErased = (): never =>
  fail('conflict', 'this workspace is being erased', { reason: 'wrong_state' })

/** The answer to whoever comes once erasure has begun: nothing has its credential any more. */
const refuseIfErased = (cause: unknown): never => {
  if (cause instanceof AppError && cause.code === 'unauthenticated') refuseErased()
  throw cause
}

/**
 * This process starts no due work. Throws `not_found`, or `conflict` once the erasure of the
 * workspace has begun.
 */
export const asOperator = async <T>(
  { config, log }: AdminContext,
  workspaceId: string,
  act: (run: RunOperation) => Promise<T>,
): Promise<T> => {
  await using database = await joinDatabase(config, log)
  const overrides = { sweepMs: 0, lanes: [] }
  await using workplace = await openWorkplace(
    config,
    { ...database.options, max: 2 },
    { log, secret: database.secret, overrides },
  )
  const state = await tenantState(workplace.db, workspaceId)
  if (!state) throw new AppError('not_found', 'no such workspace')
  if (state.erasing) refuseErased()
  return await act(runnerOf(workplace, workspaceId)).catch(refuseIfErased)
}
