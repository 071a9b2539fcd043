import type { ArticleBrief, DraftBrief, ReplyBrief } from '#domain/growth/drafting/draft'
import { composeArticle } from '../composer/article.ts'
import { composeDrafts } from '../composer/drafts.ts'
import { composeArticleAgain, composeRedraft } from '../composer/redraft.ts'
import { composeReply } from '../composer/reply.ts'
import { readArticle, readReply } from '../openai/reading.ts'
import { readDrafts } from '../openai/reading-drafts.ts'

/**
 * The long computations of the drafters, as pure functions. For a large profile each takes from
 * tenths of a second to seconds.
 */
export const draftComputations = {
  composeDrafts: ({ brief: { revise, ...brief } }: { brief: DraftBrief }) =>
    revise ? composeRedraft({ ...brief, revise }) : composeDrafts(brief),
  composeArticle: ({ brief: { revise, ...brief } }: { brief: ArticleBrief }) =>
    revise ? composeArticleAgain({ ...brief, revise }) : composeArticle(brief),
  composeReply: ({ brief }: { brief: ReplyBrief }) => composeReply(brief),
  readDrafts,
  readArticle,
  readReply,
}

export type DraftComputations = typeof draftComputations

/** Where computations run. */
export interface ModelWorker {
  /**
   * Returns or throws what the computation does. Rejects with the reason of `signal` as soon as it
   * aborts.
   */
  compute<N extends keyof DraftComputations>(
    name: N,
    input: Parameters<DraftComputations[N]>[0],
    signal: AbortSignal,
  ): Promise<ReturnType<DraftComputations[N]>>
}
