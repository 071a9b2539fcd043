/** Reads a model's answer: the draft in it, or its faults. Pure; runs in the worker. */
import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type {
  ArticleBrief,
  ArticleDraft,
  ReplyBrief,
  ReplyDraft,
} from '#domain/growth/drafting/draft'
import { type ArticleFault, checkArticle, tooShort } from '../checks/article.ts'
import { checkReply, type ReplyFault } from '../checks/reply.ts'
import { isGarbled, jsonIn, schemaFaults } from './answer.ts'
import { ModelArticle } from './article-prompt.ts'
import { citedStories, learningsOf } from './draft-prompt.ts'
import type { Completion } from './openai.ts'
import { ModelReply } from './reply-prompt.ts'

/** Faults that any answer of a model can have. */
export type AnswerFault = 'schema' | 'cut' | 'refused' | 'garbled'

export interface Fault<K extends string> {
  kind: K | AnswerFault
  /** Worded for the model. */
  detail: string
}

export type ReadAnswer<D, K extends string> =
  | { draft: D; faults?: undefined }
  | { faults: Fault<K>[] }

export const garbled: Fault<never> = {
  kind: 'garbled',
  detail: 'it contains characters that are not text',
}

/** The answer if it fits the schema, otherwise its faults. */
export const answerIn = <S extends TSchema>(
  { text, ending }: Completion,
  schema: S,
): { answer: Static<S>; faults?: undefined } | { answer?: undefined; faults: Fault<never>[] } => {
  if (ending === 'refused') return { faults: [{ kind: 'refused', detail: 'it was refused' }] }
  const answer = jsonIn(text)
  if (Value.Check(schema, answer)) return { answer }
  const kind = ending === 'cut' ? 'cut' : 'schema'
  return { faults: schemaFaults(schema, answer).map((detail) => ({ kind, detail })) }
}

const readingOf = <D, K extends string>(draft: D, faults: Fault<K>[]): ReadAnswer<D, K> =>
  faults.length === 0 ? { draft } : { faults }

const textOf = ({ sections }: ModelArticle): string =>
  sections
    .flatMap(({ heading, text }) => [heading, text])
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n')

export interface BriefedCompletion<B> {
  brief: B
  completion: Completion
}

export const readArticle = ({
  brief,
  completion,
}: BriefedCompletion<ArticleBrief>): ReadAnswer<ArticleDraft, ArticleFault['kind']> => {
  const { answer, faults } = answerIn(completion, ModelArticle)
  if (faults) return { faults }
  const about = { stories: citedStories(answer, brief), learnings: learningsOf(answer, brief) }
  const draft = {
    title: answer.title.trim(),
    text: textOf(answer),
    rationale: answer.rationale.trim(),
    ...about,
  }
  if (isGarbled([draft.title, draft.text, draft.rationale])) return { faults: [garbled] }
  return readingOf(draft, [...checkArticle(draft, brief), ...tooShort(draft.text, brief)])
}

export const readReply = ({
  brief,
  completion,
}: BriefedCompletion<ReplyBrief>): ReadAnswer<ReplyDraft, ReplyFault['kind']> => {
  const { answer, faults } = answerIn(completion, ModelReply)
  if (faults) return { faults }
  const draft = { body: answer.body.trim(), rationale: answer.rationale.trim() }
  if (isGarbled([draft.body, draft.rationale])) return { faults: [garbled] }
  return readingOf(draft, checkReply(draft, brief))
}
