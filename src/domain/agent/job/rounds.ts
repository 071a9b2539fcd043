/** Decides whether a job still makes progress. Pure. */
import { jobLimits } from './limits.ts'
import { isReading, type StepHead } from './step.ts'

type Head = Pick<
  StepHead,
  'kind' | 'name' | 'state' | 'of_step' | 'args_hash' | 'result_hash' | 'class'
>

const callOf = ({ name, args_hash }: Head): string => `${name} ${args_hash}`

/**
 * Whether a finished call brings a job forward, compared with those before it: its arguments are
 * new, its result is new for an equal call, a person decided it, or it may have happened outside.
 * Calls with unreadable arguments do not count, and refusals are no results. So polling a changing
 * record counts, and so does waiting for people, children or records.
 */
const isNew = (head: Head, calls: ReadonlySet<string>, results: ReadonlySet<string>): boolean => {
  if (head.state === 'rejected' || head.state === 'unknown') return true
  if (head.args_hash === null) return false
  if (!calls.has(callOf(head))) return true
  return head.state === 'done' && !results.has(`${callOf(head)} ${head.result_hash}`)
}

/**
 * Whether a call with new arguments read what its tool had returned before, such as a search for
 * one word after another that finds nothing.
 */
const isVain = (head: Head, given: ReadonlySet<string>): boolean =>
  isReading(head) && head.state === 'done' && given.has(`${head.name} ${head.result_hash}`)

/**
 * The rounds at the end of a job that brought nothing new: answers with calls of which none
 * `isNew`. All calls are finished. Rounds that looked in new places in vain count only beyond a
 * limit, so that a job concludes after `jobLimits.vainRounds` of them.
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
  return Math.max(idle, vain - (jobLimits.vainRounds - jobLimits.idleRounds))
}

const listed = (heads: readonly Head[]): string =>
  [...Map.groupBy(heads, ({ name }) => name)]
    .map(([name, calls]) => (calls.length === 1 ? name : `${name} (${calls.length} times)`))
    .join(', ')

/** What people are told about a job that went in circles and did not conclude. */
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
