import type { learnings } from '#contract/growth/learnings'
import { type Learning, newLearning, retire } from '#domain/growth/learning/learning'
import { newId } from '#kernel/ids'
import { countActiveLearnings, insertLearning, listLearnings, lockLearning, saveLearning } from '#store/growth/learnings'
import type { Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'

export const learningHandlers: Handlers<typeof learnings> = {
  async list({ status, kind, ...input }, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read<Learning>(listLearnings({ ...page, status, kind })), page.limit)
    return { learnings: rows, next_cursor }
  },

  async create({ kind, note }, { sql, gate }) {
    const learning = newLearning(newId(), { kind, note, active: await countActiveLearnings(sql), now: gate.now })
    return { reply: { learning }, effects: { writes: [insertLearning(learning)] }, refId: learning.id }
  },

  async retire({ id }, { sql, gate }) {
    const learning = retire(await lockLearning(sql, id), gate.now)
    return { reply: { learning }, effects: { writes: [saveLearning(learning)] } }
  },
}
