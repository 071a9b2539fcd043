/**
 * Runs the operations of a workspace for the operator, in the process that owns the workspace,
 * which is a running server if there is one. They pass the gate, and leave audit rows in the
 * operator's name.
 */
import { AppError, fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { scopes } from '#kernel/scopes'
import type { SecretKeys } from '#kernel/secret-keys'
import { type Bound, workspaceOperations } from '#ops/engine/bind'
import type { Call, StoredFile } from '#ops/engine/call'
import type { Lines } from '#ops/engine/download'
import { createOperations } from '#ops/index'
import { joinDatabase } from '#server/database'
import { openWorkplace } from '#server/workplace'
import { tenantState } from '#store/app/tenants'
import { operator } from '#store/engine/principal'
import { type AdminContext, noSuchWorkspace } from './flags.ts'

/** Runs an operation by its id, and returns its answer. */
export type RunOperation = (id: string, input?: object) => Promise<object>

/** For operations whose answers are downloads. */
export interface Downloads {
  /** The deployment's secret keys. */
  keys: SecretKeys
  lines(id: string): Promise<Lines>
  file(id: string, input: object): Promise<StoredFile>
}

const callOf = (tenantId: string): Call => ({
  tenantId,
  principal: operator,
  scopes: new Set([...scopes, 'session']),
  surface: 'admin',
  requestId: newId(),
})

const named = <O extends { id: string }>(all: readonly O[], id: string): O =>
  all.find((one) => one.id === id) ?? fail('internal')

const runnerOf =
  (operations: readonly Bound[], tenantId: string): RunOperation =>
  async (id, input = {}) => {
    const operation = named(workspaceOperations(operations), id)
    return JSON.parse((await operation.run(() => input, callOf(tenantId))).body)
  }

const downloadsOf = (
  operations: readonly Bound[],
  tenantId: string,
): Pick<Downloads, 'lines' | 'file'> => ({
  async lines(id) {
    const operation = named(operations, id)
    if (operation.kind !== 'download') return fail('internal')
    return await (await operation.open(() => ({}), callOf(tenantId))).start()
  },
  async file(id, input) {
    const operation = named(operations, id)
    if (operation.kind !== 'file') return fail('internal')
    return (await operation.fetch(() => input, callOf(tenantId))).file
  },
})

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
  act: (run: RunOperation, downloads: Downloads) => Promise<T>,
): Promise<T> => {
  await using database = await joinDatabase(config, log)
  const overrides = { sweepMs: 0, lanes: [] }
  await using workplace = await openWorkplace(
    config,
    { ...database.options, max: 2 },
    { log, keys: database.keys, overrides },
  )
  const state = await tenantState(workplace.db, workspaceId)
  if ((state ?? noSuchWorkspace(workspaceId)).erasing) refuseErased()
  const operations = createOperations(workplace.world)
  const downloads = { keys: database.keys, ...downloadsOf(operations, workspaceId) }
  return await act(runnerOf(operations, workspaceId), downloads).catch(refuseIfErased)
}
