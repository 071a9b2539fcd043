/** The facts of a brief, in one statement. */

import type { PlanState } from '#contract/limits'
import type { BriefRow, FoundGroup } from '#domain/growth/brief/brief'
import type { EngagedPost } from '#domain/growth/drafting/engagement'
import type { StoredChannel } from '#domain/growth/drafting/growth-channel'
import type { Profile } from '#domain/growth/drafting/profile'
import type { CountedExperiment } from '#domain/growth/learning/experiment'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { type CalendarEntry, calendar } from './calendar.ts'
import { tallyOf } from './experiments.ts'

/** Rows arrive as JSON, with times as text. */
export interface ListedRows {
  count: number
  rows: (Omit<BriefRow, 'at'> & { at: string })[]
}

export interface BriefRecord {
  now: Date
  paused: boolean
  plan: string
  billing: PlanState['billing']
  overrides: PlanState['overrides']
  counters: Record<string, number>
  items: Partial<Record<FoundGroup, ListedRows>>
  drafting: number
  last_error: string | null
  running: (Pick<CountedExperiment, 'id' | 'name' | 'arms' | 'tally' | 'status'> & { created_at: string })[]
  accounts: { connected: number; known: number; network: string | null }
  profile: { data: Partial<Profile>; updated_at: string } | null
  /** Channels for posts and articles, if the workspace has them. */
  channels: Pick<StoredChannel, 'name' | 'status' | 'cadence'>[]
  /** The post of the best open signal. */
  best_signal: EngagedPost | null
  calendar: (Omit<CalendarEntry, 'at'> & { at: string })[]
  active_learnings: number
  measured: number
  audited_at: Date | null
}

/** How many records of a group are listed, those that have waited longest first. */
export const MOST_ROWS = 10

/** Items that wait for a person or for their time, by what they wait for. */
const itemGroups = (sql: Sql, most: number): Fragment => sql`
  select g.name, jsonb_build_object('count', count(*), 'rows', coalesce(jsonb_agg(jsonb_build_object(
    'id', g.id, 'type', g.kind, 'title', g.title, 'status', g.status, 'at', g.at) order by g.place) filter (where g.place <= ${most}), '[]')) as found
  from (select i.*, row_number() over (partition by i.name order by i.rank, i.at, i.id) as place from (
    select 0 as rank, id, kind, status, left(split_part(coalesce(title, body), E'\n', 1), 120) as title,
      case when status = 'drafted' then created_at when post_at is not null then post_at else updated_at end as at,
      case when status = 'drafted' then case kind when 'article' then 'articles' else 'drafts' end
        when status = 'approved' then case when post_at is not null then 'scheduled' when kind = 'article' then 'approved_articles' else 'approved' end
        when status = 'publish_failed' then 'failed'
        when review then 'review' else 'unconfirmed' end as name
    from item where status in ('drafted', 'approved', 'publish_failed', 'publish_unconfirmed')
    union all
    select 0, id, 'engagement', status, left(action || coalesce(' @' || post_author, '') || coalesce(': ' || body, ''), 120), updated_at,
      case status when 'drafted' then 'engagements' when 'approved' then 'engaging' else 'engaged' end
    from engagement where status in ('drafted', 'approved') or (status = 'execute_unconfirmed' and review)
    union all
    select -score, id, 'signal', status, left(coalesce('@' || post_author || ': ', '') || coalesce(post_text, ''), 120), posted_at, 'signals'
    from signal where status = 'open' and expires_at > clock_timestamp()) i) g
  group by g.name`

/** Older batches are finished. */
const NEWEST_BATCHES = 20
const MOST_MEASURED = 20

const experiments = (sql: Sql): Fragment => sql`
  select coalesce(jsonb_agg(jsonb_build_object('id', e.id, 'name', e.name, 'arms', e.arms, 'status', e.status,
    'created_at', e.created_at, 'tally', ${tallyOf(sql)}) order by e.id), '[]') from experiment e where e.status = 'running'`

/** `most`: how many records of each group to return. */
export const briefRecord =
  ({ most = MOST_ROWS }: { most?: number } = {}): Query<BriefRecord> =>
  (sql) =>
    sql`select clock_timestamp() as now, a.paused, t.plan, t.billing, t.overrides,
      (select coalesce(jsonb_object_agg(c.key || '@' || c.period, c.used), '{}') from counter c) as counters,
      (select coalesce(jsonb_object_agg(g.name, g.found), '{}') from (${itemGroups(sql, most)}) g) as items,
      (select count(*)::int from (select status from batch order by id desc limit ${NEWEST_BATCHES}) b where b.status in ('queued', 'generating')) as drafting,
      (select last_error from item where status = 'publish_failed' order by updated_at, id limit 1) as last_error,
      (${experiments(sql)}) as running,
      (select jsonb_build_object('connected', count(*) filter (where status = 'connected'), 'known', count(*),
        'network', max(network) filter (where status = 'connected' and is_default)) from connection) as accounts,
      (select jsonb_build_object('data', data, 'updated_at', updated_at) from profile) as profile,
      (select coalesce(jsonb_agg(to_jsonb(c)), '[]') from (select name, status, cadence from growth_channel where name in ('posts', 'articles')) c) as channels,
      (select to_jsonb(s) from (select network, post_id, post_url, post_author, post_text, addresses_us from signal
        where status = 'open' and expires_at > clock_timestamp() order by score desc, posted_at, id limit 1) s) as best_signal,
      (select coalesce(jsonb_agg(to_jsonb(c)), '[]') from (${calendar(sql)}) c) as calendar,
      (select count(*)::int from learning where status = 'active') as active_learnings,
      (select count(*)::int from (select 1 from item_metric group by item_id limit ${MOST_MEASURED}) m) as measured,
      (select created_at from growth_audit where status <> 'failed' order by id desc limit 1) as audited_at
    from tenant t join actor a on a.tenant_id = t.id`
