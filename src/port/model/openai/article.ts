import type { ArticleBrief, ArticleDraft, ArticleSet } from '#domain/growth/drafting/draft'
import type { ArticleFault } from '../checks/article.ts'
import { TOKENS_TO_THINK, UNUSABLE } from './answer.ts'
import { articleMessages, articleRepair, ModelArticle } from './article-prompt.ts'
import { type PieceKind, type WritingModels, writePiece } from './piece.ts'

type Kind = PieceKind<ArticleBrief, ArticleDraft, ArticleFault['kind']>

const hints: Kind['hints'] = {
  refused: 'model refused to write this; change the topic or the profile',
  cut: 'model output was cut off; ask for a shorter article',
  schema: UNUSABLE,
  garbled: UNUSABLE,
  hook: UNUSABLE,
  empty: UNUSABLE,
  title: UNUSABLE,
  too_long: 'the article was longer than the network accepts; ask for a shorter one',
  too_wordy: 'the article was much longer than asked for; retry once, or shorten the outline',
  too_short:
    "the article was much shorter than asked for; ask for a shorter one, or add stories and proof to the profile's writing_dna",
  outline: 'the model did not follow the outline; shorten or simplify it',
  rule: 'the article broke a format rule of channel articles; loosen the rules of the channel, or change the topic',
  avoided:
    'the article contained a phrase of the avoid list; shorten writing_dna.avoid or change the topic',
  archived:
    'the article mentioned an archived product; take it out of the topic and the profile, or make it active',
  unsupported:
    "the model stated numbers that the profile does not have; add proof to the profile's writing_dna",
  repeated:
    "the article repeated itself; ask for a shorter one, or add stories and proof to the profile's writing_dna",
}

const TOKENS_PER_WORD = 4

const article: Kind = {
  name: 'article',
  schema: ModelArticle,
  maxTokens: ({ words }) => TOKENS_TO_THINK + TOKENS_PER_WORD * words,
  messages: articleMessages,
  repair: articleRepair,
  read: (worker, asked, signal) => worker.compute('readArticle', asked, signal),
  hints,
}

/** A whole article, with its title. */
export const writeArticle = async (
  desk: WritingModels,
  brief: ArticleBrief,
  signal: AbortSignal,
): Promise<ArticleSet> => {
  const { draft, ...made } = await writePiece(desk, article, { brief, signal })
  return { article: draft, ...made }
}
