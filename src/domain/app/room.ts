/**
 * How many documents a plan grants, and how much of the database they may take, including passages
 * and words.
 */
import { type PlanUsage, planOf } from './plan.ts'

/** Of the counter that the database keeps (sql/000124-baseline/07-knowledge.sql). */
export const UNIT_BYTES = 16
export const MB = 1_000_000

export interface DocumentRoom {
  /** The most documents. */
  documents: number
  /** The bytes that they take, including those of deleted documents that are not removed yet. */
  used: number
  limit: number
}

export const documentRoom = ({
  plan,
  counters,
}: Pick<PlanUsage, 'plan' | 'counters'>): DocumentRoom => ({
  documents: plan.overrides.documents ?? planOf(plan).documents,
  used: (counters['documents@units'] ?? 0) * UNIT_BYTES,
  limit: (plan.overrides.document_mb ?? planOf(plan).document_mb) * MB,
})
