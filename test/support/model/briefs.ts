import type { ArticleBrief, DraftBrief, ReplyBrief } from '#domain/growth/drafting/draft'
import { noRules } from '#domain/growth/drafting/format-rules'
import { softwareProfile } from '#test/support/growth/profiles'

/**
 * A brief for five posts of the software profile, 280 characters by code point; `changes` replace
 * fields.
 */
export const briefWith = (changes: Partial<DraftBrief> = {}): DraftBrief => ({
  profile: softwareProfile,
  count: 5,
  focus: '',
  recent: [],
  hooks: [],
  learnings: [],
  products: [],
  archived: [],
  maxLength: 280,
  rules: noRules,
  measure: (text) => [...text].length,
  seed: 'seed',
  ...changes,
})

/**
 * A brief for a short article of the software profile, in a long post of the sandbox; `changes`
 * replace fields.
 */
export const articleBrief = (changes: Partial<ArticleBrief> = {}): ArticleBrief => ({
  profile: softwareProfile,
  topic: 'onboarding',
  points: [],
  words: 600,
  learnings: [],
  products: [],
  archived: [],
  maxLength: 25_000,
  rules: noRules,
  measure: (text) => [...text].length,
  seed: 'seed',
  ...changes,
})

/** A brief for a reply to a post about onboarding; `changes` replace fields. */
export const replyBrief = (changes: Partial<ReplyBrief> = {}): ReplyBrief => ({
  profile: softwareProfile,
  action: 'reply',
  post: { author: 'somebody', text: 'How do you get new users through onboarding?' },
  instruction: '',
  learnings: [],
  products: [],
  archived: [],
  maxLength: 280,
  measure: (text) => [...text].length,
  rules: noRules,
  seed: 'seed',
  ...changes,
})

/** A signal that never aborts. */
export const neverAborts = (): AbortSignal => new AbortController().signal
