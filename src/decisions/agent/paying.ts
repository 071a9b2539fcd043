/** Refuses what would call a model, which costs money, while billing is not in order. */
import type { PlanState } from '#contract/limits'
import { isForStranger } from '#domain/agent/channel/trust'
import type { Job } from '#domain/agent/job/job'
import { NO_MODEL } from '#domain/agent/job/model-choice'
import { requireBilling, unpaid } from '#domain/app/plan'
import type { Desk } from '#port/model/desk/desk'

export type Takes = Pick<Desk, 'takes'>

/** The message to answer, who sent it, and the chosen model. */
type Words = Pick<Job, 'model' | 'goal' | 'on_behalf'>

/**
 * Why this message cannot be answered now. Undefined if billing is in order, or if no model is
 * needed: a person's typed command still runs.
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
