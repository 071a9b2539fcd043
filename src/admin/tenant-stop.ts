/** `tendril admin tenant pause`, `resume`, `suspend` and `unsuspend`. */
import type { Billing } from '#contract/limits'
import { fail } from '#kernel/errors'
import { changePlan } from '#store/app/tenants'
import { asOperator } from './as-operator.ts'
import { type AdminContext, type Flags, noSuchWorkspace, uuid } from './flags.ts'
import { withDb } from './place.ts'

/** Runs an operation of the kill switch, and prints what holds afterwards, and who brought it. */
const switching =
  (operation: string) =>
  (place: AdminContext, flags: Flags): Promise<object> => {
    const workspace_id = uuid(flags, 'workspace')
    return asOperator(place, workspace_id, async (run) => {
      await run(operation)
      const { automation } = (await run('growth.automation.get')) as { automation: object }
      return { workspace_id, ...automation }
    })
  }

export const pauseTenant = switching('growth.automation.pauseAll')
export const resumeTenant = switching('growth.automation.resumeAll')

const SUSPENDED: Billing = 'billing_suspended'

/** A change of the billing. `next` throws if the present one does not allow it. */
const billing =
  (next: (before: Billing) => Billing) =>
  async (place: AdminContext, flags: Flags): Promise<object> => {
    const workspace_id = uuid(flags, 'workspace')
    const plan = await withDb(place, (db) =>
      changePlan(db, workspace_id, (before) => ({ ...before, billing: next(before.billing) })),
    )
    return { workspace_id, ...(plan ?? noSuchWorkspace(workspace_id)) }
  }

const refuseState = (what: string): never => fail('conflict', what, { reason: 'wrong_state' })

/** Another state would be lost, and `unsuspend` could not put it back. */
export const suspendTenant = billing((before) =>
  before === 'ok' || before === SUSPENDED
    ? SUSPENDED
    : refuseState(`its billing is ${before}, which already blocks it: change it by plan set`),
)

export const unsuspendTenant = billing((before) =>
  before === SUSPENDED
    ? 'ok'
    : refuseState(`it is not suspended: its billing is ${before}, which plan set changes`),
)
