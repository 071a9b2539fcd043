/** Unattended work beside scheduled posts: rules, and automatic reads of the network. */
import type postgres from 'postgres'
import { residents } from '#port/network/sandbox/residents'
import type { Story } from '#test/support/growth/story'

/** Sets a workspace up to draft after each post and signal, and to read targets. */
export const actUnattended = async (story: Story): Promise<void> => {
  const bodies = [
    ...['more of it', 'less of it'].map((focus) => ({
      trigger: { kind: 'item_posted' },
      action: { kind: 'draft_batch', count: 1, focus },
    })),
    {
      trigger: { kind: 'signal', min_score: 0 },
      action: { kind: 'draft_engagement', action: 'reply' },
    },
  ]
  const made = [
    ...bodies.map((body, nth) =>
      story.send('POST', 'rules', { body: { name: `Rule ${nth}`, daily_cap: 50, ...body } }),
    ),
    ...residents
      .slice(0, 3)
      .map(({ handle }) => story.send('POST', 'targets', { body: { handle, priority: 1 } })),
  ]
  for (const { status, text } of await Promise.all(made))
    if (status !== 201) throw new Error(`${status} ${text}`)
}

/** Makes all reads of a workspace due, so that they start at once when it is resumed. */
export const readsDue = async (owner: postgres.Sql, { tenantId }: Story): Promise<void> => {
  await owner`update work set run_at = now() where tenant_id = ${tenantId}
    and kind in ('watch', 'metrics') and state = 'queued'`
}

export interface Unattended {
  /** How often each automatic work was started, by its id. */
  begun: Map<string, number>
  /** Rule runs that made something. */
  acted: number
  /** Rule runs that wait for their turn, or for their draft. */
  open: number
}

export const unattendedOf = async (
  owner: postgres.Sql,
  { tenantId }: Story,
): Promise<Unattended> => {
  const works = await owner<{ id: string; attempt: number }[]>`select id, attempt from work
    where tenant_id = ${tenantId} and origin = 'automatic'`
  const [runs] = await owner<
    { acted: number; open: number }[]
  >`select count(*) filter (where made_id is not null)::int as acted,
    count(*) filter (where status in ('queued', 'running'))::int as open from rule_run
      where tenant_id = ${tenantId}`
  return { begun: new Map(works.map(({ id, attempt }) => [id, attempt])), ...runs! }
}

/** How much automatic work began, and how many rules acted, between the two. */
export const begunBetween = (before: Unattended, after: Unattended): number =>
  [...after.begun].filter(([id, attempt]) => attempt > (before.begun.get(id) ?? 0)).length +
  (after.acted - before.acted)

/**
 * What was at stake in all: rule runs that acted, rule runs that a pause skipped or cancelled, and
 * targets read.
 */
export const unattendedTotals = async (owner: postgres.Sql) => {
  const [totals] = await owner<
    { rules_acted: number; rules_held: number; targets_read: number; posts_measured: number }[]
  >`select
    (select count(*)::int from rule_run where made_id is not null) as rules_acted,
    (select count(*)::int from rule_run where reason in ('paused', 'cancelled')) as rules_held,
    (select count(*)::int from target where last_read_at is not null) as targets_read,
    (select count(*)::int from item where metrics_at is not null) as posts_measured`
  return totals!
}
