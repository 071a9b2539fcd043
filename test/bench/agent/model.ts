/**
 * The provider of the agent's model, a process of its own. It does what the person's message says
 * (see `planText`): at once, or as the model `timed` after MODEL_MS.
 */
import { plannedAnswer } from '../../support/agent/plan.ts'
import {
  type ChatRequest,
  failed,
  requestFault,
  type Written,
  written,
} from '../../support/model/fake-chat.ts'

const afterMs = Number(process.env.MODEL_MS)

/** Some forty pieces of a stream. */
const ANSWER =
  'Every delay starts at the dock. Of forty late trucks, thirty-one were late before they had left our own yard. '.repeat(
    4,
  )

let called = 0
/** Nine characters, as the strictest provider wants. */
const callId = (): string => String(++called).padStart(9, '0')

const answerTo = ({ messages }: ChatRequest): Written => {
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const answers = messages.slice(asked + 1).filter(({ role }) => role === 'assistant').length
  const answer = plannedAnswer(messages[asked]?.content ?? '[]', answers)
  if ('text' in answer) return { text: ANSWER }
  return {
    calls: answer.calls.map(([name, given]) => ({
      id: callId(),
      name,
      arguments: JSON.stringify(given),
    })),
  }
}

const never = () => new Promise<void>(() => {})

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT),
  idleTimeout: 120,
  async fetch(request) {
    if (request.method === 'GET') return new Response('ok')
    const body = (await request.json()) as ChatRequest
    const fault = requestFault(body)
    if (fault !== undefined) return failed(400, { message: fault })
    if (body.model === 'timed') await Bun.sleep(afterMs)
    return written(answerTo(body), body, { signal: request.signal, silence: never })
  },
})
