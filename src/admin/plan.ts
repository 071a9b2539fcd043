/**
 * `tendril admin plan …`: the limits of a workspace. A change takes effect in every process from
 * the next request on.
 */

import { type Billing, billingStates, features, type PlanState } from '#contract/limits'
import { withOverrides } from '#domain/app/overrides'
import { budgetsOf, hasFeature, type PlanName, planNames } from '#domain/app/plan'
import { readsView, tiers } from '#domain/app/read-budget'
import { fail } from '#kernel/errors'
import { changePlan } from '#store/app/tenants'
import { type PlanRow, planOfWorkspace } from '#store/app/workspace'
import type { Db } from '#store/engine/db'
import { type AdminGroup, ofWorkspace, optional, repeated, toggle } from './command.ts'
import { choice, type Flags, listFlag, noSuchWorkspace, uuid } from './flags.ts'
import { withDb } from './place.ts'

/** A command whose flags have been read. What it does next needs the database. */
type Read = (db: Db) => Promise<object>

/** Absent fields keep their values. */
const setPlan = (flags: Flags): Read => {
  const workspace_id = uuid(flags, 'workspace')
  const plan: PlanName | undefined =
    flags.plan === undefined ? undefined : choice(flags, 'plan', planNames)
  const billing: Billing | undefined =
    flags.billing === undefined ? undefined : choice(flags, 'billing', billingStates)
  const entries = listFlag(flags, 'override')
  const clears = flags['clear-overrides'] === true
  if (!plan && !billing && entries.length === 0 && !clears)
    fail('invalid_input', 'nothing to set: give --plan, --billing, --override or --clear-overrides')
  // Wrong words are refused whether or not the workspace exists.
  withOverrides({}, entries)
  const next = (before: PlanState): PlanState => ({
    plan: plan ?? before.plan,
    billing: billing ?? before.billing,
    overrides: withOverrides(clears ? {} : before.overrides, entries),
  })
  return async (db) => ({
    workspace_id,
    ...((await changePlan(db, workspace_id, next)) ?? noSuchWorkspace(workspace_id)),
  })
}

/** The plan, and how much of it has been used. */
const getPlan = (flags: Flags): Read => {
  const workspace_id = uuid(flags, 'workspace')
  return async (db) => {
    const [row] = await db.read<PlanRow>({ tenantId: workspace_id }, planOfWorkspace)
    const { now, counters, ...plan } = row ?? noSuchWorkspace(workspace_id)
    const budget = { plan, counters, now }
    const reads = tiers.map((tier) => readsView(budget, tier))
    return {
      workspace_id,
      ...plan,
      features: features.filter((one) => hasFeature(plan, one)),
      ...budgetsOf(budget),
      reads,
    }
  }
}

export const planGroup: AdminGroup = {
  name: 'plan',
  about: 'what a workspace may use',
  commands: {
    get: {
      about: 'Read the plan of a workspace, and how much of it is used',
      flags: ofWorkspace,
      run: (place, flags) => withDb(place, getPlan(flags)),
    },
    set: {
      about: 'Change the plan of a workspace',
      flags: {
        ...ofWorkspace,
        plan: optional(planNames.join('|')),
        billing: optional(billingStates.join('|')),
        'clear-overrides': toggle,
        override: repeated('posts=100|reads_payg=500000|feature:rules=on'),
      },
      run: (place, flags) => withDb(place, setPlan(flags)),
    },
  },
}
