/**
 * A model that does what the person's message says. One model serves all workspaces in any process,
 * because the transcript alone tells how far a job has come.
 */
import type { ChatReply, ChatRequest } from '../model/fake-chat.ts'
import { type ScriptedModel, scriptedModel } from '../model/scripted-model.ts'

type PlannedCall = [tool: string, args: Record<string, unknown>]

/** The calls of each answer in turn; after them the model says that it is done. */
export type Plan = PlannedCall[][]

const DONE = 'All done.'

/** The message of a person. */
export const planText = (plan: Plan): string => JSON.stringify(plan)

/** The model's answer to a planned message, after a number of earlier answers. */
export const plannedAnswer = (
  message: string,
  answers: number,
): { text: string } | { calls: PlannedCall[] } => {
  const calls = (JSON.parse(message) as Plan)[answers]
  return calls ? { calls } : { text: DONE }
}

/** `asked` is called while the question is on its way. */
export const plannedModel = (asked: () => Promise<void> | void = () => {}): ScriptedModel =>
  scriptedModel(async ({ messages }, answers) => {
    const said = messages.findLast(({ role }) => role === 'user')
    await asked()
    return plannedAnswer(said!.role === 'user' ? said!.text : '', answers)
  })

/** The same, for a provider on the wire. */
export const plannedReply = ({ messages }: ChatRequest): ChatReply => {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const answers = messages.slice(last + 1).filter(({ role }) => role === 'assistant').length
  const answer = plannedAnswer(messages[last]!.content ?? '[]', answers)
  if ('text' in answer) return answer
  return {
    calls: answer.calls.map(([name, args], n) => ({
      id: `c${answers}${n}`,
      name,
      arguments: JSON.stringify(args),
    })),
  }
}
