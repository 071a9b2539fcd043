/** `tendril admin tenant pause`, `resume`, `suspend` and `unsuspend`. */
import type { PlanState } from '#contract/limits'
import { fail } from '#kernel/errors'
import { changePlan } from '#store/app/tenants'
import { asOperator } from './as-operator.ts'
import { type AdminContext, type Flags, uuid } from './flags.ts'
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

const billing =
  (state: PlanState['billing']) =>
  async (place: AdminContext, flags: Flags): Promise<object> => {
    const workspace_id = uuid(flags, 'workspace')
    const plan = await withDb(place, (db) =>
      changePlan(db, workspace_id, (before) => ({ ...before, billing: state })),
    )
    return { workspace_id, ...(plan ?? fail('not_found', 'no such workspace')) }
  }

export const suspendTenant = billing('billing_suspended')
export const unsuspendTenant = billing('ok')
