/**
 * What all generations share: their life (queued → generating → ready | failed) and the quota they
 * take at admission.
 */
import type { ModelUsage } from './draft.ts'

export const generationStatuses = ['queued', 'generating', 'ready', 'failed'] as const
type GenerationStatus = (typeof generationStatuses)[number]

/** How many runs may die before a generation fails. */
export const GENERATION_RUNS = 2

/** Fields common to all generations. */
export interface Generation {
  id: string
  status: GenerationStatus
  /**
   * Null, `generation_failed: <hint>`, `cancelled` or `enqueue_failed`; while it is queued,
   * `plan_invalid:<reason>` if it waits for billing.
   */
  error: string | null
  /** `composer`, or the name of a model. */
  model: string | null
  usage: ModelUsage | null
  created_at: Date
  updated_at: Date
}

/** Any record that a drafter writes. Some, such as engagements, have further states afterwards. */
export interface Drafting extends Omit<Generation, 'status'> {
  status: string
}

/**
 * Quota taken at admission. It is kept in the work row, so that a refund goes to the month it came
 * from.
 */
export interface TakenQuota {
  key: string
  period: string
  amount: number
}

/** A finished record, with its events and its refund. */
export interface FinishedGeneration<R extends Drafting> {
  record: R
  events: { type: string; data: Record<string, unknown> }[]
  refund: TakenQuota[]
}

export const newGeneration = (id: string, now: Date): Generation => ({
  id,
  status: 'queued',
  error: null,
  model: null,
  usage: null,
  created_at: now,
  updated_at: now,
})

export const startGeneration = <R extends Drafting>(record: R, now: Date): R => ({
  ...record,
  status: 'generating',
  error: null,
  updated_at: now,
})

export const requeueGeneration = <R extends Drafting>(record: R, now: Date): R => ({
  ...record,
  status: 'queued',
  updated_at: now,
})

/** It waits until billing is in order. `why`: the billing state that stops it. */
export const holdGeneration = <R extends Drafting>(record: R, why: string, now: Date): R => ({
  ...requeueGeneration(record, now),
  error: why,
})

export const refund = (taken: TakenQuota, amount: number): TakenQuota[] =>
  amount > 0 ? [{ ...taken, amount: -amount }] : []
