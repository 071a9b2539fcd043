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
import { hasTenant } from '#store/app/tenants'
import type { AdminContext } from './flags.ts'

/** Runs an operation by its id, and returns its answer. */
type RunOperation = (id: string, input?: object) => Promise<object>

const runnerOf = ({ world }: Workplace, tenantId: string): RunOperation => {
  const operations = workspaceOperations(createOperations(world))
  return async (id, input = {}) => {
    const operation = operations.find((one) => one.id === id) ?? fail('internal')
    const call: Call = {
      tenantId,
      principal: { kind: 'system', id: 'operator' },
      scopes: new Set([...scopes, 'session']),
      surface: 'admin',
      requestId: newId(),
    }
    return JSON.parse((await operation.run(() => input, call)).body)
  }
}

/** This process starts no due work. Throws `not_found`. */
export const asOperator = async (
  { config, log }: AdminContext,
  workspaceId: string,
  act: (run: RunOperation) => Promise<object>,
): Promise<object> => {
  await using database = await joinDatabase(config, log)
  const overrides = { sweepMs: 0, lanes: [] }
  await using workplace = await openWorkplace(
    config,
    { ...database.options, max: 2 },
    { log, secret: database.secret, overrides },
  )
  if (!(await hasTenant(workplace.db, workspaceId)))
    throw new AppError('not_found', 'no such workspace')
  return await act(runnerOf(workplace, workspaceId))
}
