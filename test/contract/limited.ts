/** The operations that a plan limits, by what it limits of them. */
import { keyOperations } from '#contract/index'
import type { NamedOp } from '#contract/op'
import { errorsOf } from '#contract/op-errors'

export const declares = (o: NamedOp, code: string) => (errorsOf(o) as string[]).includes(code)

export const limitedOnes = keyOperations.filter(({ cap, quota }) => cap || quota)
export const capped = keyOperations.filter(({ cap }) => cap)
export const metered = keyOperations.filter(({ quota }) => quota)
export const featured = keyOperations.filter(({ feature }) => feature)
/**
 * Whether others call a model depends on whether one is set:
 * test/flow/agent/job/suspended-surfaces.test.ts.
 */
export const costly = limitedOnes.filter((o) => declares(o, 'plan_invalid'))
export const reading = keyOperations.filter((o) => declares(o, 'x_read_budget_exhausted'))
