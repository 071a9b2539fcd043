/** The facts of a brief, in one statement. */

import type { PlanState } from '#contract/limits'
import type { BriefRow, FoundGroup } from '#domain/growth/brief/brief'
import type { EngagedPost } from '#domain/growth/drafting/engagement'
import type { StoredChannel } from '#domain/growth/drafting/growth-channel'
import type { TakenTime } from '#domain/growth/drafting/item-timing'
import type { Profile } from '#domain/growth/drafting/profile'
import type { CountedExperiment } from '#domain/growth/learning/experiment'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { pausedNow } from './automation.ts'
import { calendarOf } from './calendar.ts'
import { tallyOf } from './experiments.ts'

/** Rows arrive as JSON, so their times are text. */
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
  replies: ListedRows | null
  running: (Pick<CountedExperiment, 'id' | 'name' | 'arms' | 'tally' | 'status'> & {
    created_at: string
  })[]
  accounts: { connected: number; known: number; network: string | null; lost: string[] }
  profile: { data: Partial<Profile>; updated_at: string } | null
  /** Channels for posts and articles, if the workspace has them. */
  channels: Pick<StoredChannel, 'name' | 'status' | 'cadence'>[]
  /** The post of the best open signal. */
  best_signal: EngagedPost | null
  calendar: (Omit<TakenTime, 'at'> & { at: string })[]
  active_learnings: number
  measured: number
  audited_at: Date | null
}

/** How many records of a group are listed. Those that have waited longest come first. */
export const MOST_ROWS = 10

// States and limits are part of the statement's text. As parameters, they would have the statement
// planned anew for each brief, which takes 40 ms.

/** Nobody needs a count beyond 10,000. */
const countUpTo = (sql: Sql, rows: Fragment): Fragment =>
  sql`(select count(*)::int from (select 1 from ${rows} limit 10000) counted)`

/**
 * For records that no index has in the order of their waiting: how many of the oldest are
 * considered to find those that have waited longest.
 */
const mostConsidered = (sql: Sql): Fragment => sql`200`

interface Group {
  name: FoundGroup
  /** The table, and the condition on its rows. */
  rows: Fragment
  /** The order of waiting, if an index has it. */
  along?: Fragment
  count?: Fragment
}

/** Items that wait for a person or for their time, by what they wait for. */
const itemGroups = (sql: Sql): Group[] => {
  const drafted = sql`item where status = 'drafted'`
  const articles = sql`${drafted} and kind = 'article'`
  const posts = sql`${countUpTo(sql, drafted)} - ${countUpTo(sql, articles)}`
  const approved = sql`item where status = 'approved'`
  const unscheduled = sql`${approved} and post_at is null and at <= now()`
  const unconfirmed = sql`item where status = 'publish_unconfirmed'`
  return [
    {
      name: 'drafts',
      rows: sql`${drafted} and kind = 'post'`,
      along: sql`created_at, id`,
      count: posts,
    },
    { name: 'articles', rows: articles },
    { name: 'approved', rows: sql`${unscheduled} and kind = 'post'` },
    { name: 'approved_articles', rows: sql`${unscheduled} and kind = 'article'` },
    { name: 'scheduled', rows: sql`${approved} and post_at is not null`, along: sql`post_at, id` },
    { name: 'failed', rows: sql`item where status = 'publish_failed'` },
    { name: 'review', rows: sql`${unconfirmed} and review` },
    { name: 'unconfirmed', rows: sql`${unconfirmed} and not review` },
  ]
}

const engagementGroups = (sql: Sql): Group[] => [
  { name: 'engagements', rows: sql`engagement where status = 'drafted'` },
  { name: 'engaging', rows: sql`engagement where status = 'approved'` },
  { name: 'engaged', rows: sql`engagement where status = 'execute_unconfirmed' and review` },
]

const openSignals = (sql: Sql): Group => ({
  name: 'signals',
  rows: sql`signal where status = 'open' and expires_at > clock_timestamp()`,
})

/** How a brief shows rows of a table: the order in which they have waited, and their columns. */
interface Shown {
  order: Fragment
  columns: Fragment
}

const shownItem = (sql: Sql): Shown => {
  const at = sql`case when status = 'drafted' then created_at when post_at is not null then post_at
    else updated_at end`
  const title = sql`left(split_part(coalesce(title, body), E'\n', 1), 120)`
  return {
    order: sql`${at}, id`,
    columns: sql`'id', id, 'type', kind, 'title', ${title}, 'status', status, 'at', ${at}`,
  }
}

const shownEngagement = (sql: Sql): Shown => {
  const title = sql`left(action || coalesce(' @' || post_author, '') || coalesce(': ' || body, ''),
    120)`
  return {
    order: sql`updated_at, id`,
    columns: sql`'id', id, 'type', 'engagement', 'title', ${title}, 'status', status, 'at',
      updated_at`,
  }
}

const shownSignal = (sql: Sql): Shown => {
  const title = sql`left(coalesce('@' || post_author || ': ', '') || coalesce(post_text, ''), 120)`
  return {
    order: sql`-score, posted_at, id`,
    columns: sql`'id', id, 'type', 'signal', 'title', ${title}, 'status', status, 'at', posted_at`,
  }
}

/** The size of a group, and its rows that have waited longest, by bounded reads along indexes. */
const found = (
  sql: Sql,
  most: Fragment,
  { order, columns }: Shown,
  { name, rows, along, count = countUpTo(sql, rows) }: Group,
): Fragment => {
  const oldest = along
    ? sql`select * from ${rows} order by ${along} limit ${most}`
    : sql`select * from (select * from ${rows} order by id limit ${mostConsidered(sql)}) c
      order by ${order} limit ${most}`
  return sql`select ${name}::text as name, jsonb_build_object('count', ${count}, 'rows',
    (select coalesce(jsonb_agg(jsonb_build_object(${columns}) order by ${order}), '[]')
      from (${oldest}) o)) as found`
}

const groupsOf = (sql: Sql, most: Fragment): Fragment =>
  [
    ...itemGroups(sql).map((group) => found(sql, most, shownItem(sql), group)),
    ...engagementGroups(sql).map((group) => found(sql, most, shownEngagement(sql), group)),
    found(sql, most, shownSignal(sql), openSignals(sql)),
  ].reduce((all, one) => sql`${all} union all ${one}`)

/** Only this many batches are looked at. Older ones are finished. */
const newestBatches = (sql: Sql): Fragment => sql`20`
const mostMeasured = (sql: Sql): Fragment => sql`20`
/** How many of an experiment's newest posts are used to tell whether it can be concluded. */
const mostTallied = (sql: Sql): Fragment => sql`200`
/** How far ahead the calendar is read: a week, in any time zone. */
const ahead = (sql: Sql): Fragment => sql`interval '9 days'`

const experiments = (sql: Sql): Fragment => sql`
  select coalesce(jsonb_agg(jsonb_build_object('id', e.id, 'name', e.name, 'arms', e.arms, 'status',
    e.status,
    'created_at', e.created_at, 'tally', ${tallyOf(sql, mostTallied(sql))}) order by e.id), '[]')
      from experiment e where e.status = 'running'`

/**
 * Replies to channels that a person has to settle. They are named by channel and reason, because
 * readers of the brief need not see what they say.
 */
const unsettledReplies = (sql: Sql, most: number): Fragment => sql`
  select jsonb_build_object('count', count(*), 'rows', coalesce(jsonb_agg(jsonb_build_object('id',
    r.id, 'type', 'reply', 'status', r.status,
    'title', left(r.channel || coalesce(': ' || r.error, ''), 120), 'at', r.updated_at)
      order by r.id) filter (where r.place <= ${most}), '[]'))
  from (select u.id, u.status, u.error, u.updated_at, coalesce(u.channel, c.channel) as channel,
    row_number() over (order by u.id) as place
    from channel_reply u left join channel_connection c on c.id = u.connection_id
      where u.status = 'unknown' order by u.id limit ${MOST_UNSETTLED}) r`

/** Nobody needs a higher count. */
const MOST_UNSETTLED = 1_000

/** `most`: how many records of each group to return. */
export const briefRecord =
  ({ most = MOST_ROWS }: { most?: 1 | typeof MOST_ROWS } = {}): Query<BriefRecord> =>
  (sql) =>
    sql`select clock_timestamp() as now, ${pausedNow(sql)} as paused, t.plan, t.billing, t.overrides,
      (select coalesce(jsonb_object_agg(c.key || '@' || c.period, c.used), '{}') from counter c) as counters,
      (select coalesce(jsonb_object_agg(g.name, g.found), '{}') from (${groupsOf(sql, most === 1 ? sql`1` : sql`10`)}) g) as items,
      (select count(*)::int from (select status from batch order by id desc limit ${newestBatches(sql)}) b where b.status in ('queued', 'generating')) as drafting,
      (select last_error from (select last_error, updated_at, id from item where status = 'publish_failed' order by id limit ${mostConsidered(sql)}) f
        order by updated_at, id limit 1) as last_error,
      (${experiments(sql)}) as running,
      (${unsettledReplies(sql, most)}) as replies,
      (select jsonb_build_object('connected', count(*) filter (where status = 'connected'), 'known', count(*),
        'network', max(network) filter (where status = 'connected' and is_default),
        'lost', coalesce((array_agg('@' || handle || ' on ' || network order by id)
          filter (where status = 'needs_reauth'))[:5], '{}')) from connection) as accounts,
      (select jsonb_build_object('data', data, 'updated_at', updated_at) from profile) as profile,
      (select coalesce(jsonb_agg(to_jsonb(c)), '[]') from (select name, status, cadence from growth_channel where name in ('posts', 'articles')) c) as channels,
      (select to_jsonb(s) from (select network, post_id, post_url, post_author, post_text, addresses_us from signal
        where status = 'open' and expires_at > clock_timestamp() order by score desc, posted_at, id limit 1) s) as best_signal,
      (select coalesce(jsonb_agg(to_jsonb(c)), '[]') from (${calendarOf(ahead(sql))(sql)}) c) as calendar,
      (select count(*)::int from learning where status = 'active') as active_learnings,
      (select count(*)::int from (select 1 from item_metric group by item_id limit ${mostMeasured(sql)}) m) as measured,
      (select created_at from growth_audit where status <> 'failed' order by id desc limit 1) as audited_at
    from tenant t join actor a on a.tenant_id = t.id`
