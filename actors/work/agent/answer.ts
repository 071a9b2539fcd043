/** Words of the model without a call of a tool: the end of a job. */
import { isForStranger } from '#domain/agent/channel/trust'
import { nearedBy } from '#domain/agent/job/budget'
import { MOST_INVALID } from '#domain/agent/job/limits'
import { withoutTags } from '#kernel/untrusted-tags'
import type { Thought } from '#port/model/thinker'
import { type At, again, over } from './at.ts'

const REFUSED = 'The model declined to answer this.'
const CUT = '\n\n(The answer was cut off: it reached the longest length.)'

export const answered = (at: At, { text: given, ending, model }: Thought) => {
  const text = withoutTags(given)
  const words = ending === 'refused' && text.trim() === '' ? REFUSED : text
  if (words.trim() === '') return invalid(at)
  const said = `${words}${ending === 'cut' ? CUT : ''}${nearLine(at)}`
  const done = at.heads.filter(({ kind, state }) => kind === 'tool' && state === 'done')
  const tools_used = [...new Set(done.map(({ name }) => name))]
  at.changes.say('assistant', said, { model, tools_used })
  // Nobody else would hear it.
  if (at.changes.job.conversation_id === null)
    at.changes.set({ output: { text: said, toolsUsed: tools_used } })
  return over(at, { kind: 'end', end: { status: 'completed', error: null } })
}

/**
 * That a budget is nearly used up is said in the answer of the job that brings it there, and to
 * nobody outside the workspace.
 */
const nearLine = ({ changes, gate }: At): string => {
  if (isForStranger(changes.job.on_behalf)) return ''
  const counters = { ...gate.counters }
  for (const { key, period, amount } of changes.spent)
    counters[`${key}@${period}`] = (counters[`${key}@${period}`] ?? 0) + amount
  const near = nearedBy(changes.job, { plan: gate.plan, counters, now: gate.now })
  return near.length === 0 ? '' : `\n\n(${near.map(({ message }) => message).join(' ')})`
}

/** An answer that cannot be used. The third in a row ends the job. */
export const invalid = (at: At) => {
  const invalid_answers = at.changes.job.invalid_answers + 1
  at.changes.set({ invalid_answers })
  if (invalid_answers >= MOST_INVALID)
    return over(at, { kind: 'end', end: { status: 'failed', error: 'model_invalid' } })
  return again(at, at.gate.now)
}
