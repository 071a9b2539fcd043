/**
 * A model's answer in a form that can be stored. Adapters already ensure most of this, but a job
 * must not depend on it.
 */
import { beginning, storable } from '#kernel/storable'
import { jobLimits } from './limits.ts'

export interface TranscriptCall {
  id: string
  name: string
  /** What the model wrote, supposedly JSON. */
  arguments: string
}

export interface ThoughtUsage {
  input_tokens: number
  /** The part of the input that the provider had cached. */
  cached_tokens: number
  output_tokens: number
}

/** What the model answered: words, calls of tools, or both. */
export interface Thought {
  text: string
  calls: TranscriptCall[]
  /** How many further calls there were, of which nothing else is known. */
  left?: number
  /** `cut`: it reached `maxTokens`. `refused`: the model or a filter declined. */
  ending: 'whole' | 'cut' | 'refused'
  /** Undefined if the server did not say. */
  usage: ThoughtUsage | undefined
  /** The model that answered. */
  model: string
  /** Must be sent back, but only within the same job. Never shown. */
  reasoning?: string | undefined
}

export type ThinkFailure =
  | 'rate_limited'
  | 'out_of_credit'
  | 'unauthorized'
  | 'unknown_model'
  | 'no_tools'
  | 'too_long'
  | 'unsupported'
  | 'timeout'
  | 'unreachable'
  | 'too_large'
  | 'broken'
  | 'provider_error'
  /** No model is configured in this process, although one was when the job began. */
  | 'no_model'
  /** None of this process's model calls ended in time to make room. */
  | 'busy'

/** More tokens than any context holds. */
const MOST_TOKENS = 10_000_000
/** In characters. */
const LONGEST_NAME = 200

const isCount = (value: number): boolean =>
  Number.isSafeInteger(value) && value >= 0 && value <= MOST_TOKENS

const isPlausible = ({ input_tokens, cached_tokens, output_tokens }: ThoughtUsage): boolean =>
  [input_tokens, cached_tokens, output_tokens].every(isCount)

const name = (text: string): string => beginning(storable(text), LONGEST_NAME)

/**
 * Calls of an answer that are not made: those that are refused one by one, and the number of the
 * rest.
 */
export interface Refused {
  calls: TranscriptCall[]
  left: number
}

/** How many characters of its arguments a refused call shows. */
const LONGEST_REFUSED = 200

const kept = (call: TranscriptCall): TranscriptCall => ({
  ...call,
  id: name(call.id),
  name: name(call.name),
})

/** A thought in the form that the job keeps. */
export type KeptThought = Omit<Thought, 'left'> & { refused: Refused }

/**
 * The calls to make, the refused calls, and the number of the rest. Token counts that cannot be
 * true are dropped.
 */
export const keptAnswer = ({ left = 0, ...answer }: Thought, model: string): KeptThought => ({
  ...answer,
  text: storable(answer.text),
  calls: answer.calls.slice(0, jobLimits.calls).map(kept),
  refused: {
    calls: answer.calls.slice(jobLimits.calls, jobLimits.readCalls).map((call) => ({
      ...kept(call),
      arguments: beginning(storable(call.arguments), LONGEST_REFUSED),
    })),
    left: left + Math.max(0, answer.calls.length - jobLimits.readCalls),
  },
  usage: answer.usage && isPlausible(answer.usage) ? answer.usage : undefined,
  model: name(answer.model) || model,
  ...(answer.reasoning === undefined ? {} : { reasoning: storable(answer.reasoning) }),
})
