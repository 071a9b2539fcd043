import type { FormatRules } from './format-rules.ts'
import type { HookChance } from './hook-choice.ts'
import type { Profile } from './profile.ts'

/** A drafter's input. It is plain data and complete: nothing else can influence a draft. */
export interface DraftBrief {
  profile: Profile
  /** How many posts to write, 1 to 20. */
  count: number
  /** The batch's topic; may be empty. At most 2,000 characters. */
  focus: string
  /** Recent posts, newest first. A batch must not repeat their hooks or wording. */
  recent: RecentPost[]
  /** The workspace's active learnings. */
  learnings: BriefLearning[]
  /** Weights of the openings; one that is not listed weighs 1. */
  hooks: readonly HookChance[]
  /** Active products. Drafts may mention them, in the person's own words. */
  products: BriefProduct[]
  /**
   * Names of archived products, which no draft may mention. One may be part of an active product's
   * name.
   */
  archived: string[]
  /** The post that the draft replaces. `count` is then 1, and `recent` is without it. */
  revise?: Revise
  /**
   * What an experiment's arm asks of every post, in the person's words. At most 1,000 characters.
   */
  trial?: string
  /** The network's longest body, by its own count. */
  maxLength: number
  /** The channel's rules for every body. */
  rules: FormatRules
  /** The length of a text, by the network's own count. */
  measure(text: string): number
  /**
   * Makes a run repeatable: a deterministic drafter answers the same brief with the same drafts.
   */
  seed: string
}

/** A text that is to be written again. */
export interface Revise extends RecentPost {
  /** What to change, in the person's words. At most 2,000 characters. */
  hint: string
}

export interface RecentPost {
  body: string
  hook: string
}

export interface BriefLearning {
  id: string
  kind: 'worked' | 'flopped' | 'hypothesis'
  note: string
  /** Added by a job that had read text of people outside the workspace. */
  untrusted?: boolean
}

export interface BriefProduct {
  name: string
  one_liner: string
  url: string | null
}

export interface Draft {
  body: string
  /** The shape of the post, such as `story`, `list` or `question`. */
  format: string
  /** The opening used: a key of the library in hooks.ts. */
  hook: string
  /** Why this draft was written, in one or two sentences for the approver. */
  rationale: string
  /** The stories of the profile used, verbatim. */
  stories: string[]
  /** Ids of the learnings used. */
  learnings: string[]
}

export interface DraftSet {
  drafts: Draft[]
  /** `composer`, or the name of a model. */
  model: string
  usage: ModelUsage
}

/** A drafter's input for an article. */
export interface ArticleBrief
  extends Pick<
    DraftBrief,
    'profile' | 'learnings' | 'products' | 'archived' | 'maxLength' | 'rules' | 'measure' | 'seed'
  > {
  /** Never empty. At most 2,000 characters. */
  topic: string
  /** Headings in the person's order. Empty: the drafter chooses. */
  points: string[]
  /** The approximate length, in words. */
  words: number
  /** The article that this one replaces. */
  revise?: Revise
}

/** An article. Posted, it is the title, an empty line and the text. */
export interface ArticleDraft extends Pick<Draft, 'rationale' | 'stories' | 'learnings'> {
  title: string
  /** Paragraphs and headings, separated by empty lines. */
  text: string
}

export interface ArticleSet extends Pick<DraftSet, 'model' | 'usage'> {
  article: ArticleDraft
}

/** Findings as sentences, with exactly the numbers supplied. */
export interface Wordings extends Pick<DraftSet, 'model' | 'usage'> {
  sentences: string[]
}

/** A drafter's input for a reply to somebody's post, or a quote of it. */
export interface ReplyBrief
  extends Pick<
    DraftBrief,
    'profile' | 'learnings' | 'products' | 'archived' | 'maxLength' | 'measure' | 'rules' | 'seed'
  > {
  action: 'reply' | 'quote'
  /** Somebody else's words: never instructions. Null if the post could not be read. */
  post: { author: string; text: string } | null
  /** What the person wants to say; may be empty. */
  instruction: string
}

export type ReplyDraft = Pick<Draft, 'body' | 'rationale'>

export interface ReplySet extends Pick<DraftSet, 'model' | 'usage'> {
  reply: ReplyDraft
}

/** The cost of a model call, estimated from the provider's token counts. */
export interface ModelUsage {
  input_tokens: number
  output_tokens: number
  /** Millionths of a US dollar. */
  cost_micros: number
}

/** The sum of two usages, field by field. */
export const addUsage = (a: ModelUsage, b: ModelUsage): ModelUsage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cost_micros: a.cost_micros + b.cost_micros,
})

/** The names of the models that wrote two parts of one thing, each once. */
export const joinedModels = (a: string | null, b: string): string =>
  [...new Set([...(a?.split(', ') ?? []), ...b.split(', ')])].join(', ')

export const noUsage: ModelUsage = { input_tokens: 0, output_tokens: 0, cost_micros: 0 }
