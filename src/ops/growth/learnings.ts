import type { learnings } from '#contract/growth/learnings'
import { newLearning, retire } from '#domain/growth/learning/learning'
import { found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import {
  activeCount,
  deleteLearning,
  insertLearning,
  learningById,
  learningPart,
  listLearnings,
  saveLearning,
} from '#store/growth/learnings'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'

export const learningHandlers: Handlers<typeof learnings> = {
  async list({ status, kind, ...input }, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(
      await read(listLearnings({ ...page, status, kind })),
      page.limit,
    )
    return { learnings: rows, next_cursor }
  },

  async get({ id }, { read }) {
    const [learning] = await read(learningById(id))
    return { learning: found(learning, 'no such learning') }
  },

  create: loading(
    () => ({ count: activeCount }),
    ({ kind, note }, { gate, job }, { count: { active } }) => {
      const untrusted = (job?.taint.length ?? 0) > 0
      const learning = newLearning(newId(), { kind, note, untrusted, active, now: gate.now })
      return {
        reply: { learning },
        effects: { writes: [insertLearning(learning)] },
        refId: learning.id,
      }
    },
  ),

  retire: loading(
    ({ id }) => ({ before: learningPart(id) }),
    (_, { gate }, { before }) => {
      const known = found(before, 'no such learning')
      const learning = retire(known, gate.now)
      if (learning === known) return { reply: { learning }, unchanged: true }
      return { reply: { learning }, effects: { writes: [saveLearning(learning)] } }
    },
  ),

  remove: loading(
    ({ id }) => ({ before: learningPart(id) }),
    ({ id }, _, { before }) => ({
      reply: { learning: found(before, 'no such learning') },
      effects: { writes: [deleteLearning(id)] },
    }),
  ),
}
