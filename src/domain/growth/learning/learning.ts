import type { learningRecord } from '#contract/records/growth/learning'
import type { RowOf } from '#contract/records/record'
import type { BriefLearning } from '../drafting/draft.ts'
import { refuseNaming } from '../way-on.ts'

export type Learning = RowOf<typeof learningRecord>
export type LearningStatus = Learning['status']

/** Every brief carries all active learnings, so that none is active without effect. */
export const MOST_ACTIVE_LEARNINGS = 50

/** `active` is the number of active learnings. Throws `conflict`. */
export const newLearning = (
  id: string,
  {
    kind,
    note,
    untrusted = false,
    active,
    now,
  }: Pick<BriefLearning, 'kind' | 'note' | 'untrusted'> & { active: number; now: Date },
): Learning => {
  if (active >= MOST_ACTIVE_LEARNINGS)
    refuseNaming(
      'limit_reached',
      `cannot add: ${active} learnings are active; retire one first`,
      'growth.learnings.list',
    )
  return {
    id,
    kind,
    note: note.trim(),
    untrusted,
    status: 'active',
    audit_id: null,
    evidence: [],
    created_at: now,
    updated_at: now,
  }
}

/** Final: a retired learning is not reactivated; people add a new one. */
export const retire = (learning: Learning, now: Date): Learning =>
  learning.status === 'retired' ? learning : { ...learning, status: 'retired', updated_at: now }
