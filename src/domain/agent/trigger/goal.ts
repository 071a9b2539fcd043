/** Who wrote the goal of a schedule or a webhook rule, and in whose name it runs. Pure. */
import type { OnBehalf } from '../job/job.ts'

/** Something that runs by itself. */
export interface Standing {
  /** In whose name it runs. */
  on_behalf: OnBehalf
  /** Who wrote its goal; null: the one in whose name it runs. */
  goal_by: OnBehalf | null
}

/**
 * The goal's author. Runs are tainted while the author may do less than the one in whose name they
 * run.
 */
export const goalAuthor = ({ goal_by, on_behalf }: Standing): OnBehalf => goal_by ?? on_behalf

/**
 * Somebody changes what it does, and it runs in their name from then on. Only a new goal counts as
 * their own words.
 */
export const takenOver = (before: Standing, by: OnBehalf, isRewritten: boolean): Standing => ({
  on_behalf: by,
  goal_by: !isRewritten && isOthers(before, by) ? goalAuthor(before) : null,
})

/** Whether somebody else wrote the goal. */
export const isOthers = (before: Standing, by: OnBehalf): boolean => !isSame(goalAuthor(before), by)

const isSame = (a: OnBehalf, b: OnBehalf): boolean =>
  a.kind === b.kind && (a.kind === 'session' ? a.personId === b.personId : a.id === b.id)
