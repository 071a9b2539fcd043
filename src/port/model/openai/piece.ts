/** One text by a model, whatever its kind: an article, an answer to somebody. Asked for once, and once more with its faults named. */
import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type ModelUsage, noUsage } from '#domain/growth/drafting/draft'
import type { Log } from '#kernel/log'
import { GenerationError } from '../drafter.ts'
import type { Pace, Steps } from '../pace.ts'
import { asGenerationError, jsonIn, schemaFaults, UNHELPFUL } from './answer.ts'
import { wireSchema } from './draft-prompt.ts'
import type { ChatMessage, Completion, OpenAiClient } from './openai.ts'
import { addUsage } from './prices.ts'

/** Who writes, and who repairs. */
export interface Desk {
  client: OpenAiClient
  fast: string
  reasoning: string
  pace: Pace
  log: Log
}

/** What is wrong with any answer of a model. */
type Unreadable = 'schema' | 'cut' | 'refused' | 'garbled'

export interface Fault<K extends string> {
  kind: K | Unreadable
  /** Worded for the model. */
  detail: string
}

export const garbled: Fault<never> = { kind: 'garbled', detail: 'it contains characters that are no text' }

/** What a kind of text is asked for with, and how an answer is read. `K`: the faults that only this kind has. */
export interface PieceKind<B, S extends TSchema, D, K extends string> {
  /** In the log and in the request. */
  name: string
  schema: S
  maxTokens(brief: B): number
  messages(brief: B): ChatMessage[]
  repair(brief: B, first: { answer: string; faults: string[] }): ChatMessage[]
  read(answer: Static<S>, brief: B): Steps<{ draft: D; faults: Fault<K>[] }>
  /** What the person is told who asked for it. */
  hints: Record<K | Unreadable, string>
}

type Reading<D, K extends string> = { draft: D; faults?: undefined } | { faults: Fault<K>[] }

function* readAnswer<B, S extends TSchema, D, K extends string>(
  { schema, read }: PieceKind<B, S, D, K>,
  { text, ending }: Completion,
  brief: B,
): Steps<Reading<D, K>> {
  if (ending === 'refused') return { faults: [{ kind: 'refused', detail: 'it was refused' }] }
  const answer = jsonIn(text)
  if (!Value.Check(schema, answer)) {
    const kind = ending === 'cut' ? 'cut' : 'schema'
    return { faults: schemaFaults(schema, answer).map((detail) => ({ kind, detail })) }
  }
  const { draft, faults } = yield* read(answer, brief)
  return faults.length === 0 ? { draft } : { faults }
}

export interface Piece<D> {
  draft: D
  model: string
  usage: ModelUsage
}

const written = async <B, S extends TSchema, D, K extends string>(
  { client, fast, reasoning, pace, log }: Desk,
  kind: PieceKind<B, S, D, K>,
  { brief, signal }: { brief: B; signal: AbortSignal },
): Promise<Piece<D>> => {
  const schema = { name: kind.name, json: wireSchema(kind.schema) }
  const take = async (model: string, messages: ChatMessage[]) => {
    const completion = await client.complete({ model, messages, schema, maxTokens: kind.maxTokens(brief) }, signal)
    return { completion, reading: await pace.run(readAnswer(kind, completion, brief), signal) }
  }
  const settled = (reading: Reading<D, K>, made: Omit<Piece<D>, 'draft'>): Piece<D> => {
    if (!reading.faults) return { draft: reading.draft, ...made }
    const causes = reading.faults.map((fault) => fault.kind)
    log.info({ causes }, `${kind.name} dropped`)
    throw new GenerationError(causes[0] ? kind.hints[causes[0]] : UNHELPFUL)
  }
  const first = await take(fast, kind.messages(brief))
  const usage = addUsage(noUsage, first.completion.usage)
  const { faults } = first.reading
  if (!faults || first.completion.ending === 'refused') return settled(first.reading, { model: fast, usage })
  const details = faults.map(({ detail }) => detail)
  const second = await take(reasoning, kind.repair(brief, { answer: first.completion.text, faults: details }))
  return settled(second.reading, { model: reasoning, usage: addUsage(usage, second.completion.usage) })
}

/**
 * `fast` writes it; its faults are named to `reasoning` in one repair turn, and what is then not valid is dropped. Throws
 * `GenerationError` with a hint.
 */
export const writePiece = async <B, S extends TSchema, D, K extends string>(
  desk: Desk,
  kind: PieceKind<B, S, D, K>,
  asked: { brief: B; signal: AbortSignal },
): Promise<Piece<D>> => {
  try {
    return await written(desk, kind, asked)
  } catch (cause) {
    throw asGenerationError(cause)
  }
}
