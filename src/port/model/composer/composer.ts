import { MOST_BATCH_POSTS } from '#domain/growth/drafting/batch'
import { noUsage } from '#domain/growth/drafting/draft'
import { COMPOSER, type Drafter } from '../drafter.ts'
import type { ModelWorker } from '../worker/computations.ts'

const made = { model: COMPOSER, usage: noUsage }

/**
 * The offline drafter. It uses no network and costs nothing. It computes in `worker`, as the
 * largest profiles take seconds.
 */
export const createComposer = (worker: ModelWorker): Drafter => ({
  name: COMPOSER,
  atOnce: MOST_BATCH_POSTS,
  draft: async (brief, signal) => ({
    drafts: await worker.compute('composeDrafts', { brief }, signal),
    ...made,
  }),
  article: async (brief, signal) => ({
    article: await worker.compute('composeArticle', { brief }, signal),
    ...made,
  }),
  reply: async (brief, signal) => ({
    reply: await worker.compute('composeReply', { brief }, signal),
    ...made,
  }),
  async reword(sentences, signal) {
    signal.throwIfAborted()
    return { sentences: [...sentences], ...made }
  },
})
