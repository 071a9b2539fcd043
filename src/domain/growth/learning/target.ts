/**
 * Targets: accounts whose posts are watched. When each is read, and how a read changes it. Pure.
 */

import { targetRecord } from '#contract/records/growth/target'
import type { RowOf } from '#contract/records/record'
import { hasFeature, type PlanUsage } from '#domain/app/plan'
import { affordableAt, costOf, readBudgetOf, type Tier } from '#domain/app/read-budget'
import { fail } from '#kernel/errors'
import { plainText } from '#kernel/plain-text'
import { refuseNaming } from '../way-on.ts'

export type Target = RowOf<typeof targetRecord>
export type TargetStatus = Target['status']

export const targetLimits = {
  targets: 200,
  /** The most posts in one read. */
  postsPerRead: 20,
} as const

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** By priority: hourly, every four hours, daily. */
const readEveryMs: Record<number, number> = { 1: HOUR_MS, 2: 4 * HOUR_MS, 3: DAY_MS }
/** The wait after the first failed read. It doubles up to a day. */
const BACKOFF_MS = 5 * MINUTE_MS

const HANDLE = /^@?([A-Za-z0-9_.-]{1,50})$/

const invalid = (path: string, message: string): never =>
  fail('invalid_input', `${path} ${message}`, { details: [{ path, message }] })

/** Normalises a handle. Throws `invalid_input`. */
export const normalHandle = (text: string): string =>
  (
    HANDLE.exec(plainText(text))?.[1] ??
    invalid('handle', 'must be a handle: 1 to 50 letters, digits, dots, dashes or underscores')
  ).toLowerCase()

interface TargetInput {
  handle: string
  category: string | null
  priority: number
  others: { total: number; taken: boolean }
  now: Date
}

const LIST = 'growth.targets.list'

export const newTarget = (
  id: string,
  { handle, category, priority, others, now }: TargetInput,
): Target => {
  const name = normalHandle(handle)
  if (others.taken) refuseNaming('duplicate', `${name} is already a target`, LIST)
  if (others.total >= targetLimits.targets)
    refuseNaming(
      'limit_reached',
      `the workspace has the maximum of ${targetLimits.targets} targets; delete one first`,
      LIST,
    )
  return {
    ...targetRecord.blank,
    id,
    handle: name,
    category,
    priority,
    status: 'active',
    failures: 0,
    reads: 0,
    reads_micros: 0,
    created_at: now,
    updated_at: now,
  }
}

export type TargetPatch = Partial<Pick<Target, 'status' | 'priority' | 'category'>>

/** Any state can follow any other. Reactivating clears the failures. */
export const updateTarget = (target: Target, patch: TargetPatch, now: Date): Target => ({
  ...target,
  ...patch,
  ...(patch.status === 'active' && target.status === 'paused'
    ? { failures: 0, last_error: null }
    : {}),
  updated_at: now,
})

export const nextTargetRead = ({ priority, last_read_at, created_at, failures }: Target): Date => {
  if (!last_read_at) return created_at
  const every = readEveryMs[priority] ?? DAY_MS
  const wait = failures > 0 ? Math.min(DAY_MS, BACKOFF_MS * 2 ** Math.min(failures - 1, 20)) : every
  return new Date(last_read_at.getTime() + wait)
}

/** The most a read can cost, in the tier's unit. */
export const watchCost = (tier: Tier): number =>
  costOf(tier, 'post', targetLimits.postsPerRead) + costOf(tier, 'account', 1)

/** The workspace's state that decides whether targets are read. */
export interface Watching extends PlanUsage {
  paused: boolean
  /** The tier of the default account's network; null without an account. */
  tier: Tier | null
}

/**
 * When a target will be read, never before now; null while nothing is read. `dueAt` is the due time
 * of its work.
 */
export const nextReadAt = (
  status: TargetStatus,
  dueAt: Date | null,
  { paused, tier, ...budget }: Watching,
): Date | null => {
  if (status !== 'active' || dueAt === null || paused || tier === null) return null
  if (budget.plan.billing !== 'ok' || !hasFeature(budget.plan, 'engagement')) return null
  const paidAt = affordableAt(readBudgetOf(budget, tier), watchCost(tier), budget.now)
  return paidAt && (dueAt > paidAt ? dueAt : paidAt)
}

/**
 * After a successful read. A handle that nobody has is read once a day, in case somebody takes it.
 */
export const readTarget = (
  target: Target,
  { found, reads, micros, now }: { found: boolean; reads: number; micros: number; now: Date },
): Target => ({
  ...target,
  last_read_at: now,
  failures: found ? 0 : 20,
  last_error: found ? null : 'unknown_handle',
  reads: target.reads + reads,
  reads_micros: target.reads_micros + micros,
  updated_at: now,
})

/** After a failed read. */
export const unreadTarget = (target: Target, error: string, now: Date): Target => ({
  ...target,
  last_read_at: now,
  failures: target.failures + 1,
  last_error: error,
  updated_at: now,
})
