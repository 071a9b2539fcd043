/** `tendril admin tenant erase` and `keep`. */
import { fail } from '#kernel/errors'
import { plainText } from '#kernel/plain-text'
import { eraseSome, makeErasureDue } from '#store/app/erasure'
import { tenantState } from '#store/app/tenants'
import type { Db } from '#store/engine/db'
import { asOperator, type RunOperation } from './as-operator.ts'
import { type AdminContext, type Flags, text, uuid } from './flags.ts'
import { withDb } from './place.ts'
import { stateOf } from './tenant-look.ts'

interface Deletion {
  deletion: { deletes_at: string | null; automation: { in_flight: object[] } }
}

/** How long `--now` waits for what is on its way, so that its outcome is still noted. */
const SETTLED_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 250

const awaitSettled = async (run: RunOperation): Promise<object[]> => {
  for (const until = performance.now() + SETTLED_WITHIN_MS; ; await Bun.sleep(LOOK_EVERY_MS)) {
    const { automation } = (await run('growth.automation.get')) as Deletion['deletion']
    if (automation.in_flight.length === 0 || performance.now() > until) return automation.in_flight
  }
}

/** How many rows a transaction removes, and how long another process may hold the workspace. */
const ROWS = 1_000
const HELD_MS = 30_000

/** Returns false if another process holds the workspace, and for long. */
const eraseAll = async (db: Db, id: string): Promise<boolean> => {
  for (let until = performance.now() + HELD_MS; performance.now() < until; ) {
    if (await eraseSome(db, id, ROWS)) until = performance.now() + HELD_MS
    else if (!(await tenantState(db, id))) return true
    else await Bun.sleep(LOOK_EVERY_MS)
  }
  return false
}

const requestDeletion = (
  place: AdminContext,
  { id, name, now }: { id: string; name: string; now: boolean },
) =>
  asOperator(place, id, async (run) => {
    const { deletion } = (await run('app.workspace.requestDeletion', { name })) as Deletion
    const in_flight = now ? await awaitSettled(run) : deletion.automation.in_flight
    return { deletes_at: deletion.deletes_at, in_flight }
  })

/**
 * Its name is the confirmation. Nothing goes out any more, and its owners see when it is erased, as
 * if one of them had asked for it. With `--now` it is erased before the answer.
 */
export const eraseTenant = async (place: AdminContext, flags: Flags): Promise<object> => {
  const [id, name, now] = [uuid(flags, 'workspace'), text(flags, 'name'), flags.now === true]
  const { owners, ...before } = await withDb(place, (db) => stateOf(db, id))
  if (plainText(name) !== plainText(before.name))
    fail('invalid_input', `--name must be the name of the workspace ${id}`)
  const requested = before.erasing
    ? { deletes_at: before.deletes_at, in_flight: [] }
    : await requestDeletion(place, { id, name, now })
  const told = { workspace_id: id, owners, ...requested }
  if (!now) return { ...told, erased: false }
  return await withDb(place, async (db) => {
    if (!(await makeErasureDue(db, id)))
      fail('conflict', 'an owner has cancelled the deletion meanwhile', { reason: 'wrong_state' })
    const erased = await eraseAll(db, id)
    return erased ? { ...told, deletes_at: null, erased } : { ...told, erased }
  })
}

export const keepTenant = (place: AdminContext, flags: Flags): Promise<object> => {
  const workspace_id = uuid(flags, 'workspace')
  return asOperator(place, workspace_id, async (run) => {
    const { workspace } = (await run('app.workspace.get')) as {
      workspace: Pick<Deletion['deletion'], 'deletes_at'>
    }
    if (workspace.deletes_at) await run('app.workspace.cancelDeletion')
    const { automation } = (await run('growth.automation.get')) as { automation: object }
    return { workspace_id, deletes_at: null, ...automation }
  })
}
