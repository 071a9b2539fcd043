import type {
  ArticleBrief,
  ArticleSet,
  DraftBrief,
  DraftSet,
  ReplyBrief,
  ReplySet,
  Wordings,
} from '#domain/growth/drafting/draft'

/** The name of the drafter that calls no model. */
export const COMPOSER = 'composer'

/** Writes drafts from a brief: the offline composer, or a language model. */
export interface Drafter {
  /** `COMPOSER`, or the name of the model. */
  readonly name: string
  /**
   * How many posts one call of `draft` is asked for, at most. If a larger batch fails midway, what
   * earlier calls have written is kept.
   */
  readonly atOnce: number
  /**
   * Every returned draft is valid: within the length limit, free of avoided phrases, and not a
   * repeat. Returns at least one draft, perhaps fewer than requested. Throws `GenerationError` if
   * there is none; stops soon after `signal` aborts.
   */
  draft(brief: DraftBrief, signal: AbortSignal): Promise<DraftSet>
  /**
   * The article is valid: within the length limit with its title, free of avoided phrases, with
   * every point of the outline as a heading, in order, and no longer than requested. It may be
   * shorter where the profile has no more to say. Throws and stops as `draft` does.
   */
  article(brief: ArticleBrief, signal: AbortSignal): Promise<ArticleSet>
  /**
   * Rewords findings one by one, in order. A sentence whose new wording would change a number stays
   * as it is. Stops as `draft` does, and throws for no other reason: a finding that cannot be
   * reworded stays as it is.
   */
  reword(sentences: readonly string[], signal: AbortSignal): Promise<Wordings>
  /**
   * Writes an answer to a post, or the comment above a quote. It is valid as a draft is, and has no
   * links but the person's own. Instructions in the post are ignored. Throws and stops as `draft`
   * does.
   */
  reply(brief: ReplyBrief, signal: AbortSignal): Promise<ReplySet>
}

/**
 * No valid text could be written. `hint` says what to change; the person reads it as
 * `generation_failed: <hint>`.
 */
export class GenerationError extends Error {
  override readonly name = 'GenerationError'
  constructor(
    readonly hint: string,
    options?: ErrorOptions,
  ) {
    super(`generation failed: ${hint}`, options)
  }
}
