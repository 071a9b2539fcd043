/** The facts that the product's rules need from the gate of every letter. */
import type { Billing, PlanState } from '#contract/limits'
import type { Fragment, Sql } from '../engine/db.ts'
import type { GateFacts } from '../engine/letter.ts'

declare module '../engine/letter.ts' {
  interface GateFacts {
    plan: PlanState
    /**
     * The event types that the workspace's endpoint wants; empty means all. Null without an active
     * endpoint.
     */
    webhook: string[] | null
    /** The kinds of occurrences that active rules wait for. Others need no lookup. */
    awaited: string[]
    /** The networks of its connected accounts. */
    networks: string[]
    /**
     * When the workspace will be erased, if an owner has requested that. Nothing goes out unless
     * the request is cancelled.
     */
    deletesAt: Date | null
  }
}

interface Row extends Pick<GateFacts, 'webhook' | 'awaited' | 'networks'> {
  plan: string
  billing: Billing
  overrides: PlanState['overrides']
  deletes_at: Date | null
}

export const gateQuery = (
  sql: Sql,
): Fragment => sql`select t.plan, t.billing, t.overrides, t.deletes_at, t.webhook, t.awaited,
    t.networks
  from tenant t where t.id = a.tenant_id`

export const gateFacts = (row: Record<string, unknown>): GateFacts => {
  const { plan, billing, overrides, deletes_at: deletesAt, ...told } = row as unknown as Row
  const { webhook, awaited, networks } = told
  return { plan: { plan, billing, overrides }, webhook, awaited, networks, deletesAt }
}
