/**
 * A model that says what it was told and how often it was spoken to, and uses a tool if asked to.
 */
import type { ThinkRequest } from '#port/model/thinker'
import { resultsIn, scriptedModel } from '../model/scripted-model.ts'

const lastWords = ({ messages }: ThinkRequest): string => {
  const last = messages.findLast(({ role }) => role === 'user')
  const words = last && 'text' in last ? last.text : ''
  return words.startsWith('{') ? `(of a stranger) ${JSON.parse(words).untrusted}` : words
}

export const echo = () =>
  scriptedModel((turn) => {
    const said = lastWords(turn)
    const tool = /use (\w+)/.exec(said)?.[1]
    if (tool && resultsIn(turn).length === 0) return { calls: [[tool, {}]] }
    const times = turn.messages.filter(({ role }) => role === 'user').length
    return {
      text: `**${times}.** You said: ${said}${tool ? ` The tool gave ${resultsIn(turn).length} result.` : ''}`,
    }
  })
