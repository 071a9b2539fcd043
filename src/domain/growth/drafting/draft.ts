import type { FormatRules } from './format-rules.ts'
import type { HookChance } from './hook-choice.ts'
import type { Profile } from './profile.ts'

/** What a drafter is given. Pure data: everything it may use is here, so a draft can be explained by it. */
export interface DraftBrief {
  profile: Profile
  /** How many posts are asked for, 1 to 20. */
  count: number
  /** What the batch is about; may be empty. At most 2,000 characters. */
  focus: string
  /** The newest posts of the workspace first, so that a batch repeats neither hook nor wording of earlier ones. */
  recent: RecentPost[]
  /** Active learnings of the workspace. */
  learnings: BriefLearning[]
  /** How much each opening is to be preferred; one that is not named weighs 1. */
  hooks: readonly HookChance[]
  /** Active products: they may be mentioned, in the person's own words. */
  products: BriefProduct[]
  /** The names of archived products: no draft mentions one. Part of an active product's name such a name may be. */
  archived: string[]
  /** What all posts of this brief are to do, as an arm of an experiment: in the person's words, at most 1,000 characters. */
  trial?: string
  /** The longest body the network takes, in the network's own measure. */
  maxLength: number
  /** What the channel demands of the form of every body. */
  rules: FormatRules
  /** The length of a text in the network's own measure. */
  measure(text: string): number
  /** Makes the run repeatable: the same brief gives the same drafts where the drafter is deterministic. */
  seed: string
}

export interface RecentPost {
  body: string
  hook: string
}

export interface BriefLearning {
  id: string
  kind: 'worked' | 'flopped' | 'hypothesis'
  note: string
}

export interface BriefProduct {
  name: string
  one_liner: string
  url: string | null
}

export interface Draft {
  body: string
  /** The shape of the post, for example `story`, `list`, `question`. */
  format: string
  /** The opening pattern used: a key of the library (domain/hooks.ts). */
  hook: string
  /** Why this draft, for the person who approves it: one or two sentences. */
  rationale: string
  /** The profile's stories used, verbatim. */
  stories: string[]
  /** The ids of the learnings used. */
  learnings: string[]
}

export interface DraftSet {
  drafts: Draft[]
  /** `composer`, or the name of the model that wrote them. */
  model: string
  usage: ModelUsage
}

/** What a drafter is given for an article. */
export interface ArticleBrief
  extends Pick<DraftBrief, 'profile' | 'learnings' | 'products' | 'archived' | 'maxLength' | 'rules' | 'measure' | 'seed'> {
  /** What it is about; never empty. At most 2,000 characters. */
  topic: string
  /** The headings that the person wants, in their order; empty when it is left to the drafter. */
  points: string[]
  /** About how many words are asked for. */
  words: number
}

/** An article as written. As a post it is the title, an empty line and the text. */
export interface ArticleDraft extends Pick<Draft, 'rationale' | 'stories' | 'learnings'> {
  /** One line. */
  title: string
  /** Paragraphs and headings, set apart by empty lines. */
  text: string
}

export interface ArticleSet extends Pick<DraftSet, 'model' | 'usage'> {
  article: ArticleDraft
}

/** Findings in words: the numbers are those that were given. */
export interface Wordings extends Pick<DraftSet, 'model' | 'usage'> {
  sentences: string[]
}

/** What a drafter is given for a reply to somebody's post, or a quote of it. */
export interface ReplyBrief
  extends Pick<DraftBrief, 'profile' | 'learnings' | 'products' | 'archived' | 'maxLength' | 'measure' | 'rules' | 'seed'> {
  action: 'reply' | 'quote'
  /** Somebody else's words, never to be taken for an instruction; null where the post could not be read. */
  post: { author: string; text: string } | null
  /** What the person wants said; may be empty. */
  instruction: string
}

export type ReplyDraft = Pick<Draft, 'body' | 'rationale'>

export interface ReplySet extends Pick<DraftSet, 'model' | 'usage'> {
  reply: ReplyDraft
}

/** What a model call cost; estimated from the provider's token counts. */
export interface ModelUsage {
  input_tokens: number
  output_tokens: number
  /** Millionths of a US dollar. */
  cost_micros: number
}

export const noUsage: ModelUsage = { input_tokens: 0, output_tokens: 0, cost_micros: 0 }
