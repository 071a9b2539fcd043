/** What waits for a person, fails or is late, over all workspaces, in numbers alone. */
import { planNames, plans } from '#domain/app/plan'
import { readCounter, type Tier, tiers } from '#domain/app/read-budget'
import type { Fragment, Sql } from '../engine/db.ts'

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
  /** Those that only a person can settle. */
  reviews: number
  /** How long ago the oldest of both began, in seconds. Null if there is none. */
  oldest_doubt: number | null
  /**
   * Sends that should have begun more than ten seconds ago, in workspaces that are not paused, at
   * most `MOST_LATE`; and how late the oldest is, in seconds.
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

/** For the rights of `system`. Always a row. */
export const deploymentCounts = (sql: Sql): Fragment<DeploymentCounts> =>
  sql`select doubt.count as doubts, review.count as reviews,
      extract(epoch from now() - least(doubt.oldest, review.oldest))::float8 as oldest_doubt,
      late.count as late, late.latest,
      (select count(*)::int from connection c where c.status = 'disconnected' and not exists (
        select from connection o where o.tenant_id = c.tenant_id and o.status = 'connected'))
        as accounts_lost,
      (select count(*)::int from channel_connection where status = 'failing') as channels_failing,
      (${readsToday(sql)}) as reads,
      (select count(*)::int from work where failures > 0) as failing,
      (select count(*)::int from node where expires_at > now()) as nodes,
      (select count(*)::int from session where expires_at > now() and revoked_at is null)
        as sessions
    from (select count(*)::int, min(intent_at) as oldest from attempt where state = 'doubt') doubt,
      (select count(*)::int, min(intent_at) as oldest from attempt where state = 'review') review,
      (select count(*)::int, extract(epoch from now() - min(run_at))::float8 as latest
        from (select w.run_at from work w join actor a on a.tenant_id = w.tenant_id and not a.paused
          where w.kind = 'send' and w.state = 'queued' and w.run_at < now() - interval '10 seconds'
          order by w.run_at limit ${MOST_LATE}) due) late`
