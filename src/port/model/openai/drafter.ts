import { addUsage, type DraftBrief, type ModelUsage, noUsage } from '#domain/growth/drafting/draft'
import { type Drafter, GenerationError } from '../drafter.ts'
import type { ModelWorker } from '../worker/computations.ts'
import { TOKENS_TO_THINK, UNUSABLE } from './answer.ts'
import { writeArticle } from './article.ts'
import { draftMessages, ModelAnswer, repairMessages, wireSchema } from './draft-prompt.ts'
import { asGenerationError, UNHELPFUL } from './failures.ts'
import {
  type ChatMessage,
  type Completion,
  createOpenAiClient,
  ModelError,
  type OpenAiClient,
  type OpenAiOptions,
} from './openai.ts'
import type { Cause, DraftsReading } from './reading-drafts.ts'
import { writeReply } from './reply.ts'
import { reword } from './wording.ts'

export interface OpenAiDrafterOptions extends OpenAiOptions {
  /** Writes the drafts. */
  fast: string
  /** Repairs a faulty answer of `fast`: the same model would mostly repeat its mistake. */
  reasoning: string
  /** Reads and checks the answers. */
  worker: ModelWorker
}

const CAUSE_HINTS: readonly (readonly [Cause, string])[] = [
  ['refused', 'model refused to write this; change the focus or the profile'],
  ['cut', 'model output was cut off; lower the count or shorten the focus'],
  ['schema', UNUSABLE],
  ['empty', UNUSABLE],
  ['garbled', UNUSABLE],
  ['hook', UNUSABLE],
  ['too_long', 'every draft was too long; lower the count or shorten the focus'],
  [
    'rule',
    'every draft broke a format rule of channel posts; loosen the rules of the channel, or change the focus',
  ],
  [
    'avoided',
    'every draft contained a phrase of the avoid list; shorten writing_dna.avoid or change the focus',
  ],
  [
    'archived',
    'every draft mentioned an archived product; take it out of the focus and the profile, or make it active',
  ],
  [
    'unsupported',
    "the model stated numbers that the profile does not have; add proof to the profile's writing_dna",
  ],
  [
    'repeated',
    "every draft repeated a recent post; change the focus or add stories or proof to the profile's writing_dna",
  ],
]

/** The hint for the most frequent cause. On a tie, for the one that comes first in the table. */
const hintFor = (causes: readonly Cause[]): string => {
  const frequency = (cause: Cause) => causes.filter((other) => other === cause).length
  const [first] = CAUSE_HINTS.toSorted(([a], [b]) => frequency(b) - frequency(a))
  return first?.[1] ?? UNHELPFUL
}

/** A larger answer takes long, and is lost as a whole if it is cut off. */
const POSTS_AT_ONCE = 5

const TOKENS_PER_DRAFT = 600
const maxTokens = (count: number): number => TOKENS_TO_THINK + TOKENS_PER_DRAFT * count

interface Turn {
  client: OpenAiClient
  model: string
  messages: ChatMessage[]
  count: number
  worker: ModelWorker
  signal: AbortSignal
}

const ask = ({ client, model, messages, count, signal }: Turn): Promise<Completion> =>
  client.complete(
    {
      model,
      messages,
      schema: { name: 'drafts', json: wireSchema(ModelAnswer) },
      maxTokens: maxTokens(count),
    },
    signal,
  )

interface Outcome extends DraftsReading {
  usage: ModelUsage
  models: string[]
}

/** The repair turn. If its call fails, the drafts of the first turn are still delivered. */
const repair = async (first: Outcome, turn: Turn, brief: DraftBrief): Promise<Outcome> => {
  try {
    const completion = await ask(turn)
    const second = await turn.worker.compute(
      'readDrafts',
      { brief, completion, accepted: first.valid },
      turn.signal,
    )
    return {
      valid: [...first.valid, ...second.valid],
      faults: second.faults,
      causes: second.causes,
      usage: addUsage(first.usage, completion.usage),
      models: [
        ...(first.valid.length > 0 ? first.models : []),
        ...(second.valid.length > 0 ? [turn.model] : []),
      ],
    }
  } catch (cause) {
    if (first.valid.length === 0 || !(cause instanceof ModelError)) throw cause
    return first
  }
}

const generate = async (
  brief: DraftBrief,
  client: OpenAiClient,
  {
    fast,
    reasoning,
    worker,
    signal,
  }: { fast: string; reasoning: string; worker: ModelWorker; signal: AbortSignal },
) => {
  const completion = await ask({
    client,
    model: fast,
    messages: draftMessages(brief),
    count: brief.count,
    worker,
    signal,
  })
  const reading = await worker.compute('readDrafts', { brief, completion, accepted: [] }, signal)
  const first: Outcome = { ...reading, usage: addUsage(noUsage, completion.usage), models: [fast] }
  if (first.faults.length === 0 || completion.ending === 'refused') return first
  const wanted = Math.max(1, brief.count - first.valid.length)
  const messages = repairMessages(brief, { answer: completion.text, faults: first.faults, wanted })
  return repair(first, { client, model: reasoning, messages, count: wanted, worker, signal }, brief)
}

/**
 * Drafts with a language model over Chat Completions. `fast` writes the batch; `reasoning` repairs
 * its faults in one further turn, and drafts that are still invalid are dropped. `model` of the
 * result names the models that wrote the delivered drafts.
 */
export const createOpenAiDrafter = ({
  fast,
  reasoning,
  worker,
  log,
  ...options
}: OpenAiDrafterOptions): Drafter => {
  const client = createOpenAiClient({ ...options, log })
  const desk = { client, fast, reasoning, worker, log }
  return {
    name: fast,
    atOnce: POSTS_AT_ONCE,
    async draft(brief, signal) {
      try {
        const { valid, causes, faults, usage, models } = await generate(brief, client, {
          fast,
          reasoning,
          worker,
          signal,
        })
        if (faults.length > 0)
          log.info({ delivered: valid.length, requested: brief.count, causes }, 'drafts dropped')
        if (valid.length === 0) throw new GenerationError(hintFor(causes))
        return { drafts: valid, model: [...new Set(models)].join(', '), usage }
      } catch (cause) {
        throw asGenerationError(cause)
      }
    },
    article: (brief, signal) => writeArticle(desk, brief, signal),
    reword: (sentences, signal) => reword({ client, model: fast, log }, sentences, signal),
    reply: (brief, signal) => writeReply(desk, brief, signal),
  }
}
