/**
 * The brief: what to do next in a workspace, most important first. Pure: the same facts give the
 * same actions in the same order.
 *
 * An action's score is the urgency of its kind, plus one point for each doubling of its count, four
 * at most. Kinds further apart than that never change places. Equal scores keep the table's order.
 * There is at most one action of a kind, so the table bounds the list.
 */

import type { NearLimit } from '#domain/app/nearing'
import type { ReadBudget } from '#domain/app/read-budget'
import type { EngageAction } from '../drafting/engagement.ts'

/** From 100, for what cannot wait, down to 0, for what may merely improve. */
export const urgencies = {
  /** Nobody knows whether these are public, and only a person can find out. */
  settle_posts: 95,
  settle_engagements: 93,
  settle_replies: 91,
  /** Nothing that costs money works until billing is in order. */
  fix_billing: 90,
  /** Approved posts cannot go out. */
  connect_account: 85,
  reconnect_account: 84,
  retry_failed_posts: 80,
  resume_automation: 75,
  /** An empty profile yields no drafts. */
  start_profile: 70,
  approve_posts: 65,
  approve_articles: 62,
  approve_engagements: 60,
  fill_slots: 56,
  raise_quota: 52,
  /** The agent, or drafting of anything but posts, will soon stop. */
  raise_budget: 50,
  draft_posts: 48,
  execute_engagements: 46,
  schedule_posts: 44,
  schedule_articles: 43,
  answer_signals: 42,
  conclude_experiment: 40,
  complete_profile: 34,
  run_audit: 30,
  spare_reads: 26,
  /** Automatic reads are still looking for these. */
  watch_posts: 20,
  connect_first_account: 16,
  refresh_profile: 10,
} as const
export type BriefActionKind = keyof typeof urgencies
export const briefActionKinds = Object.keys(urgencies) as BriefActionKind[]

/** A record that an action is about. */
export interface BriefRow {
  /** Null if it is no record, such as a free slot. */
  id: string | null
  type: 'post' | 'article' | 'engagement' | 'signal' | 'experiment' | 'slot' | 'reply'
  /** The record's name, or the beginning of its text. */
  title: string
  status: string
  /** Since when it is in this state, or when it is due. */
  at: Date | null
}

/** Records in one state: their number, and the first few. */
export interface FoundRows {
  count: number
  rows: BriefRow[]
}

export const foundGroups = [
  ...([
    'drafts',
    'articles',
    'approved',
    'approved_articles',
    'scheduled',
    'review',
    'unconfirmed',
    'failed',
  ] as const),
  ...(['engagements', 'engaging', 'engaged', 'signals'] as const),
] as const
/** Items by what they wait for; engagements to approve, to execute and in review; open signals. */
export type FoundGroup = (typeof foundGroups)[number]

/** The facts about a workspace that rules read. */
export interface BriefFacts {
  now: Date
  paused: boolean
  billing: string
  /** In posts, this month. */
  quota: { used: number; limit: number; resetsAt: Date }
  /** Other quotas and budgets of the agent that are nearly used up. */
  near: NearLimit[]
  reads: ReadBudget
  items: Record<FoundGroup, FoundRows>
  /** Batches being drafted. */
  drafting: number
  /** The network's message about the first failed post. */
  lastError: string | null
  /** Experiments with enough posts in every arm. */
  ready: FoundRows
  /** Replies to channels that may or may not have arrived. */
  replies: FoundRows
  /** `lost`: those whose network asks for a new sign-in, in words. */
  accounts: { connected: number; known: number; lost: readonly string[] }
  /** Empty parts of the profile, as people call them. */
  missing: string[]
  /** The profile has neither stories nor proof, so nothing can be drafted. */
  isBare: boolean
  profileUpdatedAt: Date | null
  activeLearnings: number
  /** Posted items with metrics, counted up to 20. */
  measured: number
  /** The latest audit that did not fail. */
  auditedAt: Date | null
  /** Whether the plan has audits. */
  mayAudit: boolean
  /** Whether the plan has engagement. */
  mayEngage: boolean
  /** Whether the posts channel is inactive. */
  isInactive: boolean
  /** Channels with a cadence, whose next slot can be requested. */
  cadences: { posts: boolean; articles: boolean }
  /**
   * What the network lets a program do about the best open signal; null if there is none, or
   * nothing is allowed.
   */
  engageBy: EngageAction | null
  /** Free slots for posts in the coming week; null without a cadence. */
  slots: Date[] | null
}

/** An action. `arguments` can be sent as they are, as far as they are known. */
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

/** A rule's result; the score comes from the table. */
export type BriefAdvice = Omit<BriefAction, 'score'>

const MOST_FOR_COUNT = 4

const scoreOf = ({ kind, count }: BriefAdvice): number =>
  urgencies[kind] + Math.min(MOST_FOR_COUNT, Math.floor(Math.log2(Math.max(1, count))))

export const rankAdvice = (advice: readonly BriefAdvice[]): BriefAction[] =>
  advice
    .map((one) => ({ ...one, score: scoreOf(one) }))
    .sort(
      (a, b) =>
        b.score - a.score || briefActionKinds.indexOf(a.kind) - briefActionKinds.indexOf(b.kind),
    )
