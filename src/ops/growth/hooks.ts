import type { hooks } from '#contract/growth/hooks'
import { LEAST_MEASURED } from '#domain/growth/drafting/hook-choice'
import { hookKeys, hookPattern } from '#domain/growth/drafting/hooks'
import { loadBy } from '#store/engine/load'
import { resultsPart, usagePart } from '#store/growth/hooks'
import type { Handlers } from '../engine/call.ts'
import { pageOfNames } from '../engine/paging.ts'

const unused = { drafted: 0, approved: 0, posted: 0, rejected: 0 }

export const hookHandlers: Handlers<typeof hooks> = {
  async list(input, { read }) {
    const { names, next_cursor } = pageOfNames(hookKeys, input)
    const { usage, results } = await loadBy(read, { usage: usagePart, results: resultsPart })
    const shown = names.map((id) => {
      const { hook: _, ...used } = usage.find(({ hook }) => hook === id) ?? { hook: id, ...unused }
      const { posts: measured, mean } = results.find(({ hook }) => hook === id) ?? {
        posts: 0,
        mean: 0,
      }
      return {
        id,
        ...hookPattern(id),
        ...used,
        measured,
        engagement_rate: measured < LEAST_MEASURED ? null : mean,
      }
    })
    return { hooks: shown, next_cursor }
  },
}
