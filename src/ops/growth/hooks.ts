import type { hooks } from '#contract/growth/hooks'
import { type HookResult, LEAST_MEASURED } from '#domain/growth/drafting/hook-choice'
import { hookKeys, hookPattern } from '#domain/growth/drafting/hooks'
import type { Basis } from '#domain/growth/metrics'
import { loadBy } from '#store/engine/load'
import { resultsPart, usagePart } from '#store/growth/hooks'
import type { Handlers } from '../engine/call.ts'
import { pageOfNames } from '../engine/paging.ts'

const unused = { drafted: 0, approved: 0, posted: 0, rejected: 0 }

/** The mean is null over too few posts. */
const meanOf = (
  results: readonly HookResult[],
  id: string,
  basis: Basis,
): { posts: number; mean: number | null } => {
  const found = results.find((one) => one.hook === id && one.basis === basis)
  const posts = found?.posts ?? 0
  return { posts, mean: found && posts >= LEAST_MEASURED ? found.mean : null }
}

export const hookHandlers: Handlers<typeof hooks> = {
  async list(input, { read }) {
    const { names, next_cursor } = pageOfNames(hookKeys, input)
    const { usage, results } = await loadBy(read, { usage: usagePart, results: resultsPart })
    const shown = names.map((id) => {
      const { hook: _, ...used } = usage.find(({ hook }) => hook === id) ?? { hook: id, ...unused }
      const rate = meanOf(results, id, 'impressions')
      const perPost = meanOf(results, id, 'posts')
      return {
        id,
        ...hookPattern(id),
        ...used,
        measured: rate.posts,
        engagement_rate: rate.mean,
        measured_by_reactions: perPost.posts,
        reactions_per_post: perPost.mean,
      }
    })
    return { hooks: shown, next_cursor }
  },
}
