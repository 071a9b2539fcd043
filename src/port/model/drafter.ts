import type { DraftBrief, DraftSet } from '#domain/draft'

/** Writes drafts from a brief: the offline composer, or a language model. */
export interface Drafter {
  /** `composer`, or the name of the model. */
  readonly name: string
  /**
   * Every returned draft is valid: within length, free of the profile's avoided phrases, none repeated. Fewer than asked
   * for may come back, at least one. Throws `GenerationError` when none could be made; stops soon after `signal` aborts.
   */
  draft(brief: DraftBrief, signal: AbortSignal): Promise<DraftSet>
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
