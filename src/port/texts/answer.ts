import { textComputations } from './computations.ts'
import type { TextAnswer, TextRequest } from './texts.ts'

/** Answers a request, inside the thread. */
export const answerTextRequest = ({ name, input }: TextRequest): TextAnswer => {
  try {
    const compute = textComputations[name] as (...input: unknown[]) => unknown
    return { result: compute(...input) }
  } catch (cause) {
    return { fault: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) }
  }
}
