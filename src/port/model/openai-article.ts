import { Value } from '@sinclair/typebox/value'
import { type ArticleBrief, type ArticleDraft, type ArticleSet, type ModelUsage, noUsage } from '#domain/draft'
import type { Log } from '#kernel/log'
import { asGenerationError, isGarbled, jsonIn, schemaFaults, TOKENS_TO_THINK, UNHELPFUL } from './answer.ts'
import { articleMessages, articleRepair, ModelArticle } from './article-prompt.ts'
import { type ArticleFault, articleStandards, checkArticle, tooShort } from './check-article.ts'
import { readStandards } from './check-draft.ts'
import { learningsOf, storiesOf, wireSchema } from './draft-prompt.ts'
import { GenerationError } from './drafter.ts'
import type { ChatMessage, Completion, OpenAiClient } from './openai.ts'
import type { Pace, Steps } from './pace.ts'
import { addUsage } from './prices.ts'

/** Who writes, and who repairs. */
interface Desk {
  client: OpenAiClient
  fast: string
  reasoning: string
  pace: Pace
  log: Log
}

type Cause = ArticleFault['kind'] | 'schema' | 'cut' | 'refused' | 'garbled'

interface Fault {
  kind: Cause
  /** Worded for the model. */
  detail: string
}

type Reading = { article: ArticleDraft; faults?: undefined } | { faults: Fault[] }

const UNUSABLE = 'model output was not valid; retry once, or use another model'

const HINTS: Record<Cause, string> = {
  refused: 'model refused to write this; change the topic or the profile',
  cut: 'model output was cut off; ask for a shorter article',
  schema: UNUSABLE,
  garbled: UNUSABLE,
  hook: UNUSABLE,
  empty: UNUSABLE,
  title: UNUSABLE,
  too_long: 'the article was longer than the network takes; ask for a shorter one',
  too_wordy: 'the article was much longer than asked for; retry once, or shorten the outline',
  too_short: "the article was much shorter than asked for; ask for a shorter one, or add stories and proof to the profile's writing_dna",
  outline: 'the model did not follow the outline; shorten or simplify it',
  rule: 'the article broke a format rule of channel articles; loosen the rules of the channel, or change the topic',
  avoided: 'the article contained a phrase of the avoid list; shorten writing_dna.avoid or change the topic',
  archived: 'the article mentioned an archived product; take it out of the topic and the profile, or make it active',
  unsupported: "the model stated numbers that the profile does not have; add proof to the profile's writing_dna",
  repeated: "the article repeated itself; ask for a shorter one, or add stories and proof to the profile's writing_dna",
}

const textOf = ({ sections }: ModelArticle): string =>
  sections
    .flatMap(({ heading, text }) => [heading, text])
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n')

const faultsOf = (article: ArticleDraft, brief: ArticleBrief): Fault[] =>
  isGarbled([article.title, article.text, article.rationale])
    ? [{ kind: 'garbled', detail: 'it contains characters that are no text' }]
    : [...checkArticle(article, brief), ...tooShort(article.text, brief)]

function* readAnswer({ text, ending }: Completion, brief: ArticleBrief): Steps<Reading> {
  if (ending === 'refused') return { faults: [{ kind: 'refused', detail: 'it was refused' }] }
  const answer = jsonIn(text)
  if (!Value.Check(ModelArticle, answer)) {
    const kind = ending === 'cut' ? 'cut' : 'schema'
    return { faults: schemaFaults(ModelArticle, answer).map((detail) => ({ kind, detail })) }
  }
  yield* readStandards(articleStandards(brief))
  const { title, rationale } = answer
  const about = { stories: storiesOf(answer, brief), learnings: learningsOf(answer, brief) }
  const article = { title: title.trim(), text: textOf(answer), rationale: rationale.trim(), ...about }
  yield
  const faults = faultsOf(article, brief)
  return faults.length === 0 ? { article } : { faults }
}

const TOKENS_PER_WORD = 4

interface Turn {
  model: string
  messages: ChatMessage[]
  signal: AbortSignal
}

const take = async ({ client, pace }: Desk, brief: ArticleBrief, { model, messages, signal }: Turn) => {
  const schema = { name: 'article', json: wireSchema(ModelArticle) }
  const maxTokens = TOKENS_TO_THINK + TOKENS_PER_WORD * brief.words
  const completion = await client.complete({ model, messages, schema, maxTokens }, signal)
  return { completion, reading: await pace.run(readAnswer(completion, brief), signal) }
}

const settled = (reading: Reading, { model, usage, log }: { model: string; usage: ModelUsage; log: Log }): ArticleSet => {
  if (!reading.faults) return { article: reading.article, model, usage }
  const causes = reading.faults.map(({ kind }) => kind)
  log.info({ causes }, 'article dropped')
  throw new GenerationError(causes[0] ? HINTS[causes[0]] : UNHELPFUL)
}

const written = async (desk: Desk, brief: ArticleBrief, signal: AbortSignal): Promise<ArticleSet> => {
  const { fast, reasoning, log } = desk
  const first = await take(desk, brief, { model: fast, messages: articleMessages(brief), signal })
  const usage = addUsage(noUsage, first.completion.usage)
  const { faults } = first.reading
  if (!faults || first.completion.ending === 'refused') return settled(first.reading, { model: fast, usage, log })
  const messages = articleRepair(brief, { answer: first.completion.text, faults: faults.map(({ detail }) => detail) })
  const second = await take(desk, brief, { model: reasoning, messages, signal })
  return settled(second.reading, { model: reasoning, usage: addUsage(usage, second.completion.usage), log })
}

/** `fast` writes the article; its faults are named to `reasoning` in one repair turn, and what is then not valid is dropped. */
export const writeArticle = async (desk: Desk, brief: ArticleBrief, signal: AbortSignal): Promise<ArticleSet> => {
  try {
    return await written(desk, brief, signal)
  } catch (cause) {
    throw asGenerationError(cause)
  }
}
