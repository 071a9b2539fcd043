/** What calls a model costs, and is refused while billing is not in order. */
import type { PlanState } from '#contract/limits'
import { isForStranger } from '#domain/agent/channel/trust'
import type { Job } from '#domain/agent/job/job'
import { NO_MODEL } from '#domain/agent/job/model-choice'
import { requireBilling, unpaid } from '#domain/app/plan'
import type { Desk } from '#port/model/desk/desk'

export type Takes = Pick<Desk, 'takes'>

/** The words that are to be answered, by whom they are asked, and the model that is chosen. */
type Words = Pick<Job, 'model' | 'goal' | 'on_behalf'>

/**
 * Why these words cannot be answered now. Undefined if billing is in order, or if they take no
 * model: a command of a person goes on.
 */
export const unpaidAnswer = async (
  desk: Takes,
  plan: Pick<PlanState, 'billing'>,
  words: Words,
): Promise<string | undefined> => {
  const why = unpaid(plan)
  if (why === undefined || words.model === NO_MODEL) return undefined
  return !isForStranger(words.on_behalf) && (await desk.takes(words.goal)) ? undefined : why
}

/** Throws `plan_invalid`. */
export const requirePaid = async (
  desk: Takes,
  plan: Pick<PlanState, 'billing'>,
  words: Words,
): Promise<void> => {
  if ((await unpaidAnswer(desk, plan, words)) !== undefined) requireBilling(plan)
}
