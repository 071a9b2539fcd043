/**
 * What a model answered, in a form that can be kept. Adapters keep to most of this; a job must not
 * depend on it.
 */
import { beginning, storable } from '#kernel/storable'
import { MOST_CALLS, MOST_READ_CALLS } from './limits.ts'

interface Usage {
  input_tokens: number
  cached_tokens: number
  output_tokens: number
}

interface Call {
  id: string
  name: string
  arguments: string
}

interface Answer {
  text: string
  calls: Call[]
  left?: number
  usage: Usage | undefined
  model: string
  reasoning?: string | undefined
}

/** More than any context holds. */
const MOST_TOKENS = 10_000_000
/** In characters. */
const LONGEST_NAME = 200

const isCount = (value: number): boolean =>
  Number.isSafeInteger(value) && value >= 0 && value <= MOST_TOKENS

const isPlausible = ({ input_tokens, cached_tokens, output_tokens }: Usage): boolean =>
  [input_tokens, cached_tokens, output_tokens].every(isCount)

const name = (text: string): string => beginning(storable(text), LONGEST_NAME)

/**
 * Calls of an answer that are not made: those that are refused one by one, and the number of the
 * others.
 */
export interface Refused {
  calls: Call[]
  left: number
}

/** In characters: what a refused call shows of its arguments. */
const LONGEST_REFUSED = 200

const kept = (call: Call): Call => ({ ...call, id: name(call.id), name: name(call.name) })

/**
 * The calls to make, those that are refused, and the number of the others. Counts that cannot be
 * true are none.
 */
export const keptAnswer = <A extends Answer>(
  { left = 0, ...answer }: A,
  model: string,
): Omit<A, 'left'> & { refused: Refused } => ({
  ...answer,
  text: storable(answer.text),
  calls: answer.calls.slice(0, MOST_CALLS).map(kept),
  refused: {
    calls: answer.calls.slice(MOST_CALLS, MOST_READ_CALLS).map((call) => ({
      ...kept(call),
      arguments: beginning(storable(call.arguments), LONGEST_REFUSED),
    })),
    left: left + Math.max(0, answer.calls.length - MOST_READ_CALLS),
  },
  usage: answer.usage && isPlausible(answer.usage) ? answer.usage : undefined,
  model: name(answer.model) || model,
  ...(answer.reasoning === undefined ? {} : { reasoning: storable(answer.reasoning) }),
})
