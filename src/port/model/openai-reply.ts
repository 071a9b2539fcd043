import { Value } from '@sinclair/typebox/value'
import { type ModelUsage, noUsage, type ReplyBrief, type ReplyDraft, type ReplySet } from '#domain/draft'
import type { Log } from '#kernel/log'
import { asGenerationError, isGarbled, jsonIn, schemaFaults, TOKENS_TO_THINK, UNHELPFUL } from './answer.ts'
import { readStandards } from './check-draft.ts'
import { checkReply, type ReplyFault, replyStandards } from './check-reply.ts'
import { wireSchema } from './draft-prompt.ts'
import { GenerationError } from './drafter.ts'
import type { ChatMessage, Completion, OpenAiClient } from './openai.ts'
import type { Pace, Steps } from './pace.ts'
import { addUsage } from './prices.ts'
import { ModelReply, replyMessages, replyRepair } from './reply-prompt.ts'

/** Who writes, and who repairs. */
interface Desk {
  client: OpenAiClient
  fast: string
  reasoning: string
  pace: Pace
  log: Log
}

interface Fault {
  kind: ReplyFault['kind'] | 'schema' | 'cut' | 'refused' | 'garbled'
  /** Worded for the model. */
  detail: string
}

type Reading = { reply: ReplyDraft; faults?: undefined } | { faults: Fault[] }

const UNUSABLE = 'model output was not valid; retry once, or use another model'

const HINTS: Record<Fault['kind'], string> = {
  refused: 'model refused to write this; change the instruction, or give the body',
  cut: 'model output was cut off; shorten the instruction, or give the body',
  schema: UNUSABLE,
  garbled: UNUSABLE,
  empty: UNUSABLE,
  repeated: UNUSABLE,
  hook: UNUSABLE,
  too_long: 'the answer was too long; ask for a shorter one, or give the body',
  avoided: 'the answer contained a phrase of the avoid list; shorten writing_dna.avoid or change the instruction',
  archived: 'the answer mentioned an archived product; take it out of the instruction and the profile, or make it active',
  unsupported: 'the model stated numbers that the profile does not have; put them into the instruction, or give the body',
  rule: 'the answer broke the format rules of the channel replies; change them or the instruction, or give the body',
  link: 'the model put in a link that the profile does not have; put it into the instruction, or give the body',
}

function* readAnswer({ text, ending }: Completion, brief: ReplyBrief): Steps<Reading> {
  if (ending === 'refused') return { faults: [{ kind: 'refused', detail: 'it was refused' }] }
  const answer = jsonIn(text)
  if (!Value.Check(ModelReply, answer)) {
    const kind = ending === 'cut' ? 'cut' : 'schema'
    return { faults: schemaFaults(ModelReply, answer).map((detail) => ({ kind, detail })) }
  }
  yield* readStandards(replyStandards(brief))
  const reply = { body: answer.body.trim(), rationale: answer.rationale.trim() }
  const faults: Fault[] = isGarbled([reply.body, reply.rationale])
    ? [{ kind: 'garbled', detail: 'it contains characters that are no text' }]
    : checkReply(reply, brief)
  return faults.length === 0 ? { reply } : { faults }
}

const TOKENS = TOKENS_TO_THINK + 600

const take = async (
  { client, pace }: Desk,
  brief: ReplyBrief,
  { model, messages, signal }: { model: string; messages: ChatMessage[]; signal: AbortSignal },
) => {
  const schema = { name: 'reply', json: wireSchema(ModelReply) }
  const completion = await client.complete({ model, messages, schema, maxTokens: TOKENS }, signal)
  return { completion, reading: await pace.run(readAnswer(completion, brief), signal) }
}

const settled = (reading: Reading, { model, usage, log }: { model: string; usage: ModelUsage; log: Log }): ReplySet => {
  if (!reading.faults) return { reply: reading.reply, model, usage }
  const causes = reading.faults.map(({ kind }) => kind)
  log.info({ causes }, 'reply dropped')
  throw new GenerationError(causes[0] ? HINTS[causes[0]] : UNHELPFUL)
}

const written = async (desk: Desk, brief: ReplyBrief, signal: AbortSignal): Promise<ReplySet> => {
  const { fast, reasoning, log } = desk
  const first = await take(desk, brief, { model: fast, messages: replyMessages(brief), signal })
  const usage = addUsage(noUsage, first.completion.usage)
  const { faults } = first.reading
  if (!faults || first.completion.ending === 'refused') return settled(first.reading, { model: fast, usage, log })
  const messages = replyRepair(brief, { answer: first.completion.text, faults: faults.map(({ detail }) => detail) })
  const second = await take(desk, brief, { model: reasoning, messages, signal })
  return settled(second.reading, { model: reasoning, usage: addUsage(usage, second.completion.usage), log })
}

/** `fast` writes the answer; its faults are named to `reasoning` in one repair turn, and what is then not valid is dropped. */
export const writeReply = async (desk: Desk, brief: ReplyBrief, signal: AbortSignal): Promise<ReplySet> => {
  try {
    return await written(desk, brief, signal)
  } catch (cause) {
    throw asGenerationError(cause)
  }
}
