/** What a model answered, in a form that can be kept. Adapters keep to most of this; a job must not depend on it. */
import { beginning, storable } from '#kernel/storable'
import { MOST_CALLS } from './limits.ts'

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
  usage: Usage | undefined
  model: string
  reasoning?: string | undefined
}

/** More than any context holds. */
const MOST_TOKENS = 10_000_000
/** In characters. */
const LONGEST_NAME = 200

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0 && value <= MOST_TOKENS

const isPlausible = ({ input_tokens, cached_tokens, output_tokens }: Usage): boolean =>
  [input_tokens, cached_tokens, output_tokens].every(isCount)

const name = (text: string): string => beginning(storable(text), LONGEST_NAME)

/** One call more than a job makes, so that the model is told; the rest is dropped. Counts that cannot be true are none. */
export const keptAnswer = <A extends Answer>(answer: A, model: string): A => ({
  ...answer,
  text: storable(answer.text),
  calls: answer.calls.slice(0, MOST_CALLS + 1).map((call) => ({ ...call, id: name(call.id), name: name(call.name) })),
  usage: answer.usage && isPlausible(answer.usage) ? answer.usage : undefined,
  model: name(answer.model) || model,
  ...(answer.reasoning === undefined ? {} : { reasoning: storable(answer.reasoning) }),
})
