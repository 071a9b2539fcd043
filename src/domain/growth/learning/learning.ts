/** What a workspace has found out about its posts: active → retired. Active ones steer what is drafted. */
import { fail } from '#kernel/errors'
import type { BriefLearning } from '../drafting/draft.ts'

export type LearningStatus = 'active' | 'retired'

export interface Learning extends BriefLearning {
  status: LearningStatus
  /** The audit that found it, null where a person has added it. */
  audit_id: string | null
  /** Ids of the items that show it. */
  evidence: string[]
  created_at: Date
  updated_at: Date
}

/** So many are active at once, and all of them go into every brief: none is active and yet without effect. */
export const MOST_ACTIVE_LEARNINGS = 50

/** `active`: how many there are already. */
export const newLearning = (
  id: string,
  { kind, note, active, now }: Pick<Learning, 'kind' | 'note'> & { active: number; now: Date },
): Learning => {
  if (active >= MOST_ACTIVE_LEARNINGS) fail('conflict', `cannot add: ${active} learnings are active; retire one first`)
  return { id, kind, note: note.trim(), status: 'active', audit_id: null, evidence: [], created_at: now, updated_at: now }
}

/** For good: a retired learning is not taken up again, a new one is added. */
export const retire = (learning: Learning, now: Date): Learning => {
  if (learning.status === 'retired') fail('conflict', 'cannot retire: the learning is retired')
  return { ...learning, status: 'retired', updated_at: now }
}
