import type { ArticleBrief, ArticleSet, DraftBrief, DraftSet, ReplyBrief, ReplySet, Wordings } from '#domain/growth/drafting/draft'

/** Writes drafts from a brief: the offline composer, or a language model. */
export interface Drafter {
  /** `composer`, or the name of the model. */
  readonly name: string
  /**
   * Every returned draft is valid: within length, free of the profile's avoided phrases, none repeated. Fewer than asked
   * for may come back, at least one. Throws `GenerationError` when none could be made; stops soon after `signal` aborts.
   */
  draft(brief: DraftBrief, signal: AbortSignal): Promise<DraftSet>
  /**
   * The article is valid: with its title within length, free of the profile's avoided phrases, every point of the outline a
   * heading, in their order, and no longer than was asked for; shorter only where the text says nothing less for it. Throws
   * and stops as `draft` does.
   */
  article(brief: ArticleBrief, signal: AbortSignal): Promise<ArticleSet>
  /**
   * Says findings in other words, one for each, in their order; a sentence that would say another number is left as it was. Stops as
   * `draft` does, and throws for no other reason: what cannot be said better stays.
   */
  reword(sentences: readonly string[], signal: AbortSignal): Promise<Wordings>
  /**
   * The answer to a post, or the words over it, is valid as a draft is, and has no links but the person's own. What the post says
   * is followed by nobody. Throws and stops as `draft` does.
   */
  reply(brief: ReplyBrief, signal: AbortSignal): Promise<ReplySet>
}

/** No valid output could be produced. `hint` tells the person what to change; it ends up in `generation_failed: <hint>`. */
export class GenerationError extends Error {
  override readonly name = 'GenerationError'
  constructor(
    readonly hint: string,
    options?: ErrorOptions,
  ) {
    super(`generation failed: ${hint}`, options)
  }
}
