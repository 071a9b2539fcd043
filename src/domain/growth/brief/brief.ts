/**
 * What there is to do next in a workspace, most important first. Pure: the same facts give the same actions in the same order.
 *
 * An action's score is the urgency of its kind plus a little for how many wait: one point with each doubling, four at most. So
 * kinds further apart than that never change places. Of the same score the kind that stands first in the table goes first. There
 * is at most one action of a kind, so the list is bounded by the table.
 */

import type { ReadBudget } from '#domain/app/read-budget'
import type { EngageAction } from '../drafting/engagement.ts'

/** From what cannot wait to what only might be better: 0 to 100. */
export const urgencies = {
  /** Nobody knows whether they are public, and only a person can tell. */
  settle_posts: 95,
  settle_engagements: 93,
  /** Nothing that costs anything works until it is mended. */
  fix_billing: 90,
  /** Approved posts wait, and cannot go out. */
  connect_account: 85,
  retry_failed_posts: 80,
  resume_automation: 75,
  /** Nothing can be drafted from an empty profile. */
  start_profile: 70,
  approve_posts: 65,
  approve_articles: 62,
  approve_engagements: 60,
  fill_slots: 56,
  raise_quota: 52,
  draft_posts: 48,
  execute_engagements: 46,
  schedule_posts: 44,
  schedule_articles: 43,
  answer_signals: 42,
  conclude_experiment: 40,
  complete_profile: 34,
  run_audit: 30,
  spare_reads: 26,
  /** The machine still looks for them itself. */
  watch_posts: 20,
  connect_first_account: 16,
  refresh_profile: 10,
} as const
export type BriefActionKind = keyof typeof urgencies
export const briefActionKinds = Object.keys(urgencies) as BriefActionKind[]

/** A record that an action is about. */
export interface BriefRow {
  /** Null for what is no record, such as a free slot. */
  id: string | null
  type: 'post' | 'article' | 'engagement' | 'signal' | 'experiment' | 'slot'
  /** Its name, or the beginning of its text. */
  title: string
  status: string
  /** Since when it is so, or when it is due. */
  at: Date | null
}

/** Records in one state: how many, and the first of them. */
export interface FoundRows {
  count: number
  rows: BriefRow[]
}

export const foundGroups = [
  ...(['drafts', 'articles', 'approved', 'approved_articles', 'scheduled', 'review', 'unconfirmed', 'failed'] as const),
  ...(['engagements', 'engaging', 'engaged', 'signals'] as const),
] as const
/** Items by what they wait for; engagements to be approved, to be executed and in review; open signals. */
export type FoundGroup = (typeof foundGroups)[number]

/** The state of a workspace, as far as it says what to do. */
export interface BriefFacts {
  now: Date
  paused: boolean
  billing: string
  /** Of the month, in posts. */
  quota: { used: number; limit: number; resetsAt: Date }
  reads: ReadBudget
  items: Record<FoundGroup, FoundRows>
  /** Batches that are being drafted. */
  drafting: number
  /** What the network says of failed posts, of the first one. */
  lastError: string | null
  /** Experiments with enough posts in every arm. */
  ready: FoundRows
  accounts: { connected: number; known: number }
  /** Parts of the profile that are empty, as people name them. */
  missing: string[]
  /** Neither stories nor proof: no draft can be made. */
  isBare: boolean
  profileUpdatedAt: Date | null
  activeLearnings: number
  /** Posted items with numbers; counted up to 20. */
  measured: number
  /** When an audit was last asked for that did not fail. */
  auditedAt: Date | null
  /** The plan has audits. */
  mayAudit: boolean
  /** The plan has engagement. */
  mayEngage: boolean
  /** Nothing may be drafted for posts. */
  isInactive: boolean
  /** Channels whose next slot can be asked for. */
  cadences: { posts: boolean; articles: boolean }
  /** What the network lets a program do about the best open signal; null where there is none, or nothing is. */
  engageBy: EngageAction | null
  /** Free slots of the coming week for posts; null where they have no cadence. */
  slots: Date[] | null
}

/** Something to do. `args`: ready to be sent, as far as they are known. */
export interface BriefAction {
  kind: BriefActionKind
  title: string
  why: string
  score: number
  count: number
  operation: string
  arguments: Record<string, unknown>
  rows: BriefRow[]
}

/** What a rule says of the facts; its score comes from the table. */
export type BriefAdvice = Omit<BriefAction, 'score'>

const MOST_FOR_COUNT = 4

const scoreOf = ({ kind, count }: BriefAdvice): number =>
  urgencies[kind] + Math.min(MOST_FOR_COUNT, Math.floor(Math.log2(Math.max(1, count))))

export const ranked = (advice: readonly BriefAdvice[]): BriefAction[] =>
  advice
    .map((one) => ({ ...one, score: scoreOf(one) }))
    .sort((a, b) => b.score - a.score || briefActionKinds.indexOf(a.kind) - briefActionKinds.indexOf(b.kind))
