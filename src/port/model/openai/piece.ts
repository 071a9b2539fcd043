/** One text written by a model: an article or a reply. A faulty answer is repaired once. */
import type { TSchema } from '@sinclair/typebox'
import { addUsage, type ModelUsage, noUsage } from '#domain/growth/drafting/draft'
import type { Log } from '#kernel/log'
import { GenerationError } from '../drafter.ts'
import type { ModelWorker } from '../worker/computations.ts'
import { wireSchema } from './draft-prompt.ts'
import { asGenerationError, UNHELPFUL } from './failures.ts'
import type { ChatMessage, OpenAiClient } from './openai.ts'
import type { AnswerFault, BriefedCompletion, ReadAnswer } from './reading.ts'

/** The models that write and repair, and what they need. */
export interface WritingModels {
  client: OpenAiClient
  fast: string
  reasoning: string
  worker: ModelWorker
  log: Log
}

/**
 * How a kind of text is requested, and how its answer is read. `K`: the faults that only this kind
 * has.
 */
export interface PieceKind<B, D, K extends string> {
  /** Appears in the log and in the request. */
  name: string
  schema: TSchema
  maxTokens(brief: B): number
  messages(brief: B): ChatMessage[]
  repair(brief: B, first: { answer: string; faults: string[] }): ChatMessage[]
  read(
    worker: ModelWorker,
    asked: BriefedCompletion<B>,
    signal: AbortSignal,
  ): Promise<ReadAnswer<D, K>>
  /** What the person reads for each fault. */
  hints: Record<K | AnswerFault, string>
}

export interface WrittenPiece<D> {
  draft: D
  model: string
  usage: ModelUsage
}

const askForPiece = async <B, D, K extends string>(
  { client, fast, reasoning, worker, log }: WritingModels,
  kind: PieceKind<B, D, K>,
  { brief, signal }: { brief: B; signal: AbortSignal },
): Promise<WrittenPiece<D>> => {
  const schema = { name: kind.name, json: wireSchema(kind.schema) }
  const take = async (model: string, messages: ChatMessage[]) => {
    const completion = await client.complete(
      { model, messages, schema, maxTokens: kind.maxTokens(brief) },
      signal,
    )
    return { completion, reading: await kind.read(worker, { brief, completion }, signal) }
  }
  const settled = (
    reading: ReadAnswer<D, K>,
    made: Omit<WrittenPiece<D>, 'draft'>,
  ): WrittenPiece<D> => {
    if (!reading.faults) return { draft: reading.draft, ...made }
    const causes = reading.faults.map((fault) => fault.kind)
    log.info({ causes }, `${kind.name} dropped`)
    throw new GenerationError(causes[0] ? kind.hints[causes[0]] : UNHELPFUL)
  }
  const first = await take(fast, kind.messages(brief))
  const usage = addUsage(noUsage, first.completion.usage)
  const { faults } = first.reading
  if (!faults || first.completion.ending === 'refused')
    return settled(first.reading, { model: fast, usage })
  const details = faults.map(({ detail }) => detail)
  const second = await take(
    reasoning,
    kind.repair(brief, { answer: first.completion.text, faults: details }),
  )
  return settled(second.reading, {
    model: reasoning,
    usage: addUsage(usage, second.completion.usage),
  })
}

/**
 * `fast` writes it, and `reasoning` repairs its faults in one further turn. Throws
 * `GenerationError` with a hint if it is still invalid.
 */
export const writePiece = async <B, D, K extends string>(
  desk: WritingModels,
  kind: PieceKind<B, D, K>,
  asked: { brief: B; signal: AbortSignal },
): Promise<WrittenPiece<D>> => {
  try {
    return await askForPiece(desk, kind, asked)
  } catch (cause) {
    throw asGenerationError(cause)
  }
}
