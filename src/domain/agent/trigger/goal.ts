/** Whose words the goal of a schedule or a webhook rule is, and in whose name it runs. Pure. */
import type { OnBehalf } from '../job/job.ts'

/** What runs by itself. */
export interface Standing {
  /** In whose name it runs. */
  on_behalf: OnBehalf
  /** Who wrote its goal; null: whoever it runs for. */
  goal_by: OnBehalf | null
}

/** Its runs are tainted while this author may not do all that it runs with the rights of. */
export const goalAuthor = ({ goal_by, on_behalf }: Standing): OnBehalf => goal_by ?? on_behalf

/**
 * Somebody changes what it does, and is the one for whom it runs from then on. Only a new goal is
 * their own words.
 */
export const takenOver = (before: Standing, by: OnBehalf, isRewritten: boolean): Standing => ({
  on_behalf: by,
  goal_by: !isRewritten && isOthers(before, by) ? goalAuthor(before) : null,
})

/** Whether these are somebody else's words. */
export const isOthers = (before: Standing, by: OnBehalf): boolean => !isSame(goalAuthor(before), by)

const isSame = (a: OnBehalf, b: OnBehalf): boolean =>
  a.kind === b.kind && (a.kind === 'session' ? a.personId === b.personId : a.id === b.id)
