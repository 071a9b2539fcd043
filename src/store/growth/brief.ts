/** The facts of a brief, in one statement. */

import type { PlanState } from '#contract/limits'
import { budgetsOf, hasFeature } from '#domain/app/plan'
import { readBudgetOf, type Tier } from '#domain/app/read-budget'
import { type BriefFacts, type BriefRow, type FoundGroup, type FoundRows, foundGroups } from '#domain/growth/brief/brief'
import { gapsInCadence, hasSlots, noCadence } from '#domain/growth/drafting/cadence'
import type { EngageAction, EngagedPost } from '#domain/growth/drafting/engagement'
import type { StoredChannel } from '#domain/growth/drafting/growth-channel'
import type { Profile } from '#domain/growth/drafting/profile'
import { type CountedExperiment, isReady } from '#domain/growth/learning/experiment'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { type CalendarEntry, calendarSince } from './calendar.ts'
import { tallyOf } from './experiments.ts'
import { toProfile } from './profiles.ts'

/** Rows arrive as JSON, with times as text. */
interface Listed {
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
  items: Partial<Record<FoundGroup, Listed>>
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
const MOST_ROWS = 10

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
  ({ most = MOST_ROWS }: { most?: number } = {}): Query =>
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
      (select coalesce(jsonb_agg(to_jsonb(c)), '[]') from (${calendarSince(sql`clock_timestamp() - interval '2 days'`)(sql)}) c) as calendar,
      (select count(*)::int from learning where status = 'active') as active_learnings,
      (select count(*)::int from (select 1 from item_metric group by item_id limit ${MOST_MEASURED}) m) as measured,
      (select created_at from growth_audit where status <> 'failed' order by id desc limit 1) as audited_at
    from tenant t join actor a on a.tenant_id = t.id`

const foundOf = (listed: Listed | undefined): FoundRows => ({
  count: listed?.count ?? 0,
  rows: (listed?.rows ?? []).map((row) => ({ ...row, at: new Date(row.at) })),
})

const readyOf = (running: BriefRecord['running']): FoundRows => {
  const ready = running.filter(isReady)
  const rows = ready.map(
    ({ id, name, status, created_at }): BriefRow => ({ id, type: 'experiment', title: name, status, at: new Date(created_at) }),
  )
  return { count: rows.length, rows: rows.slice(0, MOST_ROWS) }
}

/** The empty parts of the profile, as people call them. */
const profileOf = ({ profile }: BriefRecord): Pick<BriefFacts, 'missing' | 'isBare' | 'profileUpdatedAt'> => {
  const {
    goal,
    audience,
    voice,
    writing_dna: dna,
  } = toProfile(profile ? { ...profile, created_at: null, updated_at: null } : undefined).profile
  const parts = { goal, audience, voice, stories: dna.stories.join(''), proof: dna.proof.join(''), 'voice rules': dna.voice_rules.join('') }
  const missing = Object.entries(parts).flatMap(([name, text]) => (text.trim() === '' ? [name] : []))
  const isBare = missing.includes('stories') && missing.includes('proof')
  return { missing, isBare, profileUpdatedAt: profile ? new Date(profile.updated_at) : null }
}

const DAYS_AHEAD = 7

/** Free slots for posts; none if the channel is inactive, since nothing may be drafted for it. */
const slotsOf = ({ channels, calendar, profile, now }: BriefRecord): Pick<BriefFacts, 'slots' | 'isInactive' | 'cadences'> => {
  const channel = channels.find(({ name }) => name === 'posts')
  const articles = channels.find(({ name }) => name === 'articles')
  const isInactive = channel?.status === 'inactive'
  const cadence = { ...noCadence, ...channel?.cadence }
  const cadences = { posts: hasSlots(cadence), articles: hasSlots({ ...noCadence, ...articles?.cadence }) }
  if (isInactive || !cadences.posts) return { isInactive, cadences, slots: null }
  const entries = calendar.map((entry) => ({ ...entry, at: new Date(entry.at) }))
  const taken = entries.filter(({ ahead }) => ahead).map(({ at }) => at)
  const counted = entries.filter(({ kind }) => kind === 'post').map(({ at }) => at)
  const zone = toProfile(profile ? { ...profile, created_at: null, updated_at: null } : undefined).profile.time_zone
  return { isInactive, cadences, slots: gapsInCadence(cadence, { zone, taken, counted, now }, DAYS_AHEAD) }
}

/** What the port knows. `tier`: of the network that posts go to. `engageBy`: the first action permitted on the best signal. */
interface OnNetwork {
  tier: Tier
  engageBy: EngageAction | null
}

export const briefFacts = (record: BriefRecord, { tier, engageBy }: OnNetwork): BriefFacts => {
  const { now, counters, plan, billing, overrides } = record
  const budget = { plan: { plan, billing, overrides }, counters, now }
  const posts = budgetsOf(budget).quotas.find(({ key }) => key === 'posts')!
  return {
    now,
    paused: record.paused,
    billing,
    quota: { used: posts.used, limit: posts.limit, resetsAt: posts.resets_at },
    reads: readBudgetOf(budget, tier),
    items: Object.fromEntries(foundGroups.map((name) => [name, foundOf(record.items[name])])) as BriefFacts['items'],
    drafting: record.drafting,
    lastError: record.last_error,
    ready: readyOf(hasFeature(budget.plan, 'experiments') ? record.running : []),
    accounts: record.accounts,
    ...profileOf(record),
    activeLearnings: record.active_learnings,
    measured: record.measured,
    auditedAt: record.audited_at,
    mayAudit: hasFeature(budget.plan, 'audits'),
    mayEngage: hasFeature(budget.plan, 'engagement'),
    engageBy,
    ...slotsOf(record),
  }
}
