/**
 * A model that answers by a script: a function of the turn. It refuses transcripts that the
 * provider would refuse.
 */
import type { Thought } from '#domain/agent/job/answer'
import type { Thinker, ThinkRequest } from '#port/model/thinker'

interface Answer {
  text?: string
  calls?: [name: string, args: unknown][]
}

export interface ScriptedModel extends Thinker {
  turns: ThinkRequest[]
}

const callId = (): string => Math.random().toString(36).slice(2, 11).padEnd(9, '0')

/** Throws for a transcript with a call that has no result, or results out of order. */
export const requireComplete = ({ messages }: ThinkRequest): void => {
  let open: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      if (message.call !== open.shift())
        throw new Error(`the result of ${message.call} is out of place`)
    } else if (open.length > 0) throw new Error(`calls without a result: ${open.join(', ')}`)
    if (message.role === 'assistant') open = message.calls.map(({ id }) => id)
  }
  if (open.length > 0) throw new Error(`calls without a result: ${open.join(', ')}`)
}

/** Results of tools since the last message of a person. */
export const resultsIn = ({ messages }: ThinkRequest): string[] => {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  return messages
    .slice(last + 1)
    .flatMap((message) => (message.role === 'tool' ? [message.text] : []))
}

/** `answer` gets the number of the model's answers so far in this turn. */
export const scriptedModel = (
  answer: (turn: ThinkRequest, answers: number) => Answer | Promise<Answer>,
): ScriptedModel => {
  const turns: ThinkRequest[] = []
  return {
    turns,
    async think(turn, { signal, onText }): Promise<Thought> {
      requireComplete(turn)
      turns.push(structuredClone(turn))
      const last = turn.messages.findLastIndex(({ role }) => role === 'user')
      const answers = turn.messages
        .slice(last + 1)
        .filter(({ role }) => role === 'assistant').length
      const { text = '', calls = [] } = await answer(turn, answers)
      signal.throwIfAborted()
      if (text !== '') onText(text)
      return {
        text,
        calls: calls.map(([name, args]) => ({
          id: callId(),
          name,
          arguments: typeof args === 'string' ? args : JSON.stringify(args),
        })),
        ending: 'whole',
        usage: { input_tokens: 200, cached_tokens: 0, output_tokens: 20 },
        model: turn.model,
      }
    },
  }
}
