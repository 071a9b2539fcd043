/** What waits for a person, fails or is late, over all workspaces, in numbers alone. */
import { planNames, plans } from '#domain/app/plan'
import { readCounter, type Tier, tiers } from '#domain/app/read-budget'
import type { Fragment, Sql } from '../engine/db.ts'
import { heldSince } from '../engine/hold.ts'

interface TierReads {
  tier: Tier
  /** In the tier's unit. */
  left: number
  /** Workspaces with nothing left. */
  spent: number
}

export interface DeploymentCounts {
  /** Sends of which nobody knows yet whether they reached the network. */
  doubts: number
  /** Those of them that only a person can settle. */
  reviews: number
  /** How long ago the oldest of them began, in seconds. Null if there is none. */
  oldest_doubt: number | null
  /**
   * Sends that should have begun more than ten seconds ago, in workspaces that are not paused and
   * while nothing is held, at most `MOST_LATE`; and how late the oldest is, in seconds.
   */
  late: number
  latest: number | null
  /** Accounts of workspaces that have no connected one, and channels that fail: people must act. */
  accounts_lost: number
  channels_failing: number
  /** Today's budgets of reads, of the workspaces that have read today. */
  reads: TierReads[]
  /** Rows of work that have failed since they last succeeded. */
  failing: number
  /** The operator has paused every workspace. */
  paused_everywhere: boolean
  /** Living servers. */
  nodes: number
  /** Signed-in people. */
  sessions: number
}

/** More late posts than this are as bad. */
const MOST_LATE = 10_000

/** What each plan allows, by the names of the counters. */
const readLimits = Object.fromEntries(
  planNames.map((name) => [
    name,
    Object.fromEntries(tiers.map((tier) => [readCounter(tier), plans[name].reads[tier]])),
  ]),
)

const readsToday = (sql: Sql): Fragment =>
  sql`select coalesce(jsonb_agg(jsonb_build_object('tier', replace(key, 'reads_', ''),
      'left', of_tier.left, 'spent', of_tier.spent)), '[]') from (
    select c.key, sum(greatest(0, allowed.most - c.used)) as left,
      count(*) filter (where c.used >= allowed.most) as spent
    from counter c join tenant t on t.id = c.tenant_id cross join lateral (select coalesce(
      (t.overrides->>c.key)::float8, (${sql.json(readLimits)}::jsonb->t.plan->>c.key)::float8) as most
      ) allowed
    where c.key in ('reads_free', 'reads_payg')
      and c.period = to_char(now() at time zone 'utc', 'YYYY-MM-DD')
    group by c.key) of_tier`

/**
 * By the workspaces that should have been woken: one is never woken later than its first row of
 * work is due. Those where something runs are among them, whatever waits there. The inner limit
 * keeps Postgres from reading the posts of all workspaces instead.
 */
const lateSends = (sql: Sql): Fragment => {
  const isLate = (at: Fragment) => sql`${at} < now() - interval '10 seconds'`
  return sql`select count(*)::int, extract(epoch from now() - min(run_at))::float8 as latest
    from (select w.run_at from (select tenant_id from actor
        where ${isLate(sql`wake_at`)} and not paused and ${heldSince(sql)} is null
          and (select paused_since from hold) is null order by wake_at limit ${MOST_LATE}) a
      cross join lateral (select run_at from work where tenant_id = a.tenant_id
        and origin in ('manual', 'automatic') and ${isLate(sql`run_at`)}
        and kind = 'send' and state = 'queued' limit ${MOST_LATE}) w limit ${MOST_LATE}) late`
}

/** For the rights of `system`. Always a row. */
export const deploymentCounts = (sql: Sql): Fragment<DeploymentCounts> =>
  sql`select doubt.count + review.count as doubts, review.count as reviews,
      extract(epoch from now() - least(doubt.oldest, review.oldest))::float8 as oldest_doubt,
      late.count as late, late.latest,
      (select count(*)::int from connection c where c.status <> 'connected' and not exists (
        select from connection o where o.tenant_id = c.tenant_id and o.status = 'connected'))
        as accounts_lost,
      (select count(*)::int from channel_connection where status = 'failing') as channels_failing,
      (${readsToday(sql)}) as reads,
      (select count(*)::int from work where failures > 0) as failing,
      (select paused_since is not null from hold) as paused_everywhere,
      (select count(*)::int from node where expires_at > now()) as nodes,
      (select count(*)::int from session where expires_at > now() and revoked_at is null)
        as sessions
    from (select count(*)::int, min(intent_at) as oldest from attempt where state = 'doubt') doubt,
      (select count(*)::int, min(intent_at) as oldest from attempt where state = 'review') review,
      (${lateSends(sql)}) late`
