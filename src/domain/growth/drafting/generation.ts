/** What generations of every kind have in common: queued → generating → ready | failed, and what they took at admission. */
import type { ModelUsage } from './draft.ts'

export const generationStatuses = ['queued', 'generating', 'ready', 'failed'] as const
type GenerationStatus = (typeof generationStatuses)[number]

/** Runs of a generation that may die before it is given up. */
export const GENERATION_RUNS = 2

/** The fields of every generation's record. */
export interface Generation {
  id: string
  status: GenerationStatus
  /** null, `generation_failed: <hint>`, `cancelled` or `enqueue_failed`. */
  error: string | null
  /** Who wrote it: `composer`, or the name of a model. */
  model: string | null
  usage: ModelUsage | null
  created_at: Date
  updated_at: Date
}

/** Any record that a drafter writes: one with further states, once it is written, too. */
export interface Drafting extends Omit<Generation, 'status'> {
  status: string
}

/** What a generation took at admission; kept in its work row, so that what was not delivered goes back to the same month. */
export interface Taken {
  key: string
  period: string
  amount: number
}

/** A record that is over, with what follows from it. */
export interface Ended<R extends Drafting> {
  record: R
  events: { type: string; data: Record<string, unknown> }[]
  refund: Taken[]
}

/** Nobody has begun it. */
export const newGeneration = (id: string, now: Date): Generation => ({
  id,
  status: 'queued',
  error: null,
  model: null,
  usage: null,
  created_at: now,
  updated_at: now,
})

/** A lane has it. */
export const generating = <R extends Drafting>(record: R, now: Date): R => ({ ...record, status: 'generating', updated_at: now })

/** Back in the queue as it was. */
export const queuedAgain = <R extends Drafting>(record: R, now: Date): R => ({ ...record, status: 'queued', updated_at: now })

/** What goes back to the quota, if anything does. */
export const refund = (taken: Taken, amount: number): Taken[] => (amount > 0 ? [{ ...taken, amount: -amount }] : [])
