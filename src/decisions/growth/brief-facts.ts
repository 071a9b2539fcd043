/** The facts of a brief, from the record that the statement returns. */
import { agentBudgetsOf, nearLimits } from '#domain/app/nearing'
import { budgetsOf, hasFeature } from '#domain/app/plan'
import { readBudgetOf, type Tier } from '#domain/app/read-budget'
import {
  type BriefFacts,
  type BriefRow,
  type FoundRows,
  foundGroups,
} from '#domain/growth/brief/brief'
import { gapsInCadence, hasSlots, noCadence } from '#domain/growth/drafting/cadence'
import type { EngageAction } from '#domain/growth/drafting/engagement'
import { isReady } from '#domain/growth/learning/experiment'
import { type BriefRecord, type ListedRows, MOST_ROWS } from '#store/growth/brief'
import { toProfile } from '#store/growth/profiles'

const foundOf = (listed: ListedRows | undefined): FoundRows => ({
  count: listed?.count ?? 0,
  rows: (listed?.rows ?? []).map((row) => ({ ...row, at: new Date(row.at) })),
})

const readyOf = (running: BriefRecord['running']): FoundRows => {
  const ready = running.filter(isReady)
  const rows = ready.map(
    ({ id, name, status, created_at }): BriefRow => ({
      id,
      type: 'experiment',
      title: name,
      status,
      at: new Date(created_at),
    }),
  )
  return { count: rows.length, rows: rows.slice(0, MOST_ROWS) }
}

/** The empty parts of the profile, as people call them. */
const profileOf = ({
  profile,
}: BriefRecord): Pick<BriefFacts, 'missing' | 'isBare' | 'profileUpdatedAt'> => {
  const {
    goal,
    audience,
    voice,
    writing_dna: dna,
  } = toProfile(profile ? { ...profile, created_at: null, updated_at: null } : undefined).profile
  const parts = {
    goal,
    audience,
    voice,
    stories: dna.stories.join(''),
    proof: dna.proof.join(''),
    'voice rules': dna.voice_rules.join(''),
  }
  const missing = Object.entries(parts).flatMap(([name, text]) =>
    text.trim() === '' ? [name] : [],
  )
  const isBare = missing.includes('stories') && missing.includes('proof')
  return { missing, isBare, profileUpdatedAt: profile ? new Date(profile.updated_at) : null }
}

const DAYS_AHEAD = 7

/** Free slots for posts; none if the channel is inactive, since nothing may be drafted for it. */
const slotsOf = ({
  channels,
  calendar,
  profile,
  now,
}: BriefRecord): Pick<BriefFacts, 'slots' | 'isInactive' | 'cadences'> => {
  const channel = channels.find(({ name }) => name === 'posts')
  const articles = channels.find(({ name }) => name === 'articles')
  const isInactive = channel?.status === 'inactive'
  const cadence = { ...noCadence, ...channel?.cadence }
  const cadences = {
    posts: hasSlots(cadence),
    articles: hasSlots({ ...noCadence, ...articles?.cadence }),
  }
  if (isInactive || !cadences.posts) return { isInactive, cadences, slots: null }
  const entries = calendar.map((entry) => ({ ...entry, at: new Date(entry.at) }))
  const taken = entries.filter(({ ahead }) => ahead).map(({ at }) => at)
  const counted = entries.filter(({ kind }) => kind === 'post').map(({ at }) => at)
  const zone = toProfile(profile ? { ...profile, created_at: null, updated_at: null } : undefined)
    .profile.time_zone
  return {
    isInactive,
    cadences,
    slots: gapsInCadence(cadence, { zone, taken, counted, now }, DAYS_AHEAD),
  }
}

/**
 * What the port knows. `tier`: of the network that posts go to. `engageBy`: the first action
 * permitted on the best signal.
 */
interface OnNetwork {
  tier: Tier
  engageBy: EngageAction | null
}

export const briefFacts = (record: BriefRecord, { tier, engageBy }: OnNetwork): BriefFacts => {
  const { now, counters, plan, billing, overrides } = record
  const budget = { plan: { plan, billing, overrides }, counters, now }
  const { quotas } = budgetsOf(budget)
  const posts = quotas.find(({ key }) => key === 'posts')!
  return {
    now,
    paused: record.paused,
    billing,
    quota: { used: posts.used, limit: posts.limit, resetsAt: posts.resets_at },
    near: nearLimits([...quotas.filter((one) => one !== posts), ...agentBudgetsOf(budget)]),
    reads: readBudgetOf(budget, tier),
    items: Object.fromEntries(
      foundGroups.map((name) => [name, foundOf(record.items[name])]),
    ) as BriefFacts['items'],
    drafting: record.drafting,
    lastError: record.last_error,
    ready: readyOf(hasFeature(budget.plan, 'experiments') ? record.running : []),
    replies: foundOf(record.replies ?? undefined),
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
