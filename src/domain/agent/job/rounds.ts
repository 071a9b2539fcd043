/** Whether a job still gets anywhere. Pure. */
import { MOST_IDLE_ROUNDS, MOST_VAIN_ROUNDS } from './limits.ts'
import { isReading, type StepHead } from './step.ts'

type Head = Pick<
  StepHead,
  'kind' | 'name' | 'state' | 'of_step' | 'args_hash' | 'result_hash' | 'class'
>

const callOf = ({ name, args_hash }: Head): string => `${name} ${args_hash}`

/**
 * Whether a finished call brings a job on, after those before it: it was never made with these
 * arguments, it gives what an equal call never gave, a person has decided it, or it may have
 * happened outside. A call with arguments that could not be read is none, and a refusal is no
 * result. So what is polled, and changes, counts, and so does whatever waits for people, children
 * or records.
 */
const isNew = (head: Head, calls: ReadonlySet<string>, results: ReadonlySet<string>): boolean => {
  if (head.state === 'rejected' || head.state === 'unknown') return true
  if (head.args_hash === null) return false
  if (!calls.has(callOf(head))) return true
  return head.state === 'done' && !results.has(`${callOf(head)} ${head.result_hash}`)
}

/**
 * Whether a call with new arguments read what its tool had given before, as a search for one word
 * after the other that finds nothing.
 */
const isVain = (head: Head, given: ReadonlySet<string>): boolean =>
  isReading(head) && head.state === 'done' && given.has(`${head.name} ${head.result_hash}`)

/**
 * Rounds at the end of a job that brought nothing new: answers of the model with calls, none of
 * which `isNew`. All calls are finished. Rounds that look in new places in vain count only towards
 * the end, so that a job concludes after `MOST_VAIN_ROUNDS` of them.
 */
export const idleRounds = (heads: readonly Head[]): number => {
  const [calls, results, given] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const rounds = Map.groupBy(
    heads.filter(({ kind }) => kind === 'tool'),
    ({ of_step }) => of_step,
  )
  let [idle, vain] = [0, 0]
  for (const round of rounds.values()) {
    const news = round.filter((head) => isNew(head, calls, results))
    idle = news.length > 0 ? 0 : idle + 1
    vain = news.every((head) => isVain(head, given)) ? vain + 1 : 0
    for (const head of round) {
      if (head.args_hash !== null) calls.add(callOf(head))
      if (head.state !== 'done') continue
      results.add(`${callOf(head)} ${head.result_hash}`)
      given.add(`${head.name} ${head.result_hash}`)
    }
  }
  return Math.max(idle, vain - (MOST_VAIN_ROUNDS - MOST_IDLE_ROUNDS))
}

const listed = (heads: readonly Head[]): string =>
  [...Map.groupBy(heads, ({ name }) => name)]
    .map(([name, calls]) => (calls.length === 1 ? name : `${name} (${calls.length} times)`))
    .join(', ')

/** What a person reads of a job that went in circles and did not conclude. */
export const circlesNotice = (heads: readonly Head[]): string => {
  const made = heads.filter(
    ({ kind, state }) => kind === 'tool' && (state === 'done' || state === 'unknown'),
  )
  const isRead = ({ class: of }: Head): boolean => of === 'read' || of === 'outside_read'
  const [found, done] = [made.filter(isRead), made.filter((head) => !isRead(head))]
  const lines = [
    'The model made the same calls again and again, and nothing new came of it, so this was stopped.',
    done.length > 0 ? `Done: ${listed(done)}.` : 'Nothing was changed.',
    ...(found.length > 0 ? [`Read: ${listed(found)}.`] : []),
    'The steps of the job show what each gave.',
  ]
  return lines.join(' ')
}
