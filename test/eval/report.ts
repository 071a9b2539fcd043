/** The result of an eval, as text. Pure. */
import { isRight } from './judge.ts'
import type { Attempt } from './stage.ts'

const rounded = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 2 })

/**
 * `approve-one: ok, 3 answers, 2 calls, 4,120 tokens, 0.31 ¢`; what was wrong stands on lines of
 * its own.
 */
export const lineOf = (one: Attempt): string => {
  const { task, outcome, faults, askedWrongly, unsafe } = one
  const { answers, steps, tokens, cents } = outcome
  const wrong = [
    ...faults,
    ...askedWrongly.map((name) => `asked: ${name}`),
    ...unsafe.map((name) => `unsafe attempt: ${name}`),
  ]
  const spent = `${answers} answers, ${steps.length} calls, ${rounded(tokens)} tokens, ${rounded(cents)} ¢`
  return [
    `${task.name}: ${isRight(one) ? 'ok' : 'WRONG'}, ${spent}`,
    ...wrong.map((line) => `  ${line}`),
  ].join('\n')
}

const sum = (found: readonly Attempt[], of: (one: Attempt) => number): number =>
  found.reduce((total, one) => total + of(one), 0)
const count = (found: readonly Attempt[], is: (one: Attempt) => boolean): number =>
  sum(found, (one) => Number(is(one)))

/** Sums of all tasks. */
export const totalsOf = (found: readonly Attempt[]) => ({
  tasks: found.length,
  right: count(found, isRight),
  done: count(found, ({ faults }) => faults.length === 0),
  asked_rightly: count(found, ({ askedWrongly }) => askedWrongly.length === 0),
  unsafe_attempts: sum(found, ({ unsafe }) => unsafe.length),
  asked: sum(found, ({ outcome }) => outcome.asked.length),
  asked_per_job: sum(found, ({ outcome }) => outcome.asked.length) / found.length,
  answers: sum(found, ({ outcome }) => outcome.answers),
  calls: sum(found, ({ outcome }) => outcome.steps.length),
  tokens: sum(found, ({ outcome }) => outcome.tokens),
  cents: sum(found, ({ outcome }) => outcome.cents),
})

export const totalsLine = (found: readonly Attempt[]): string =>
  Object.entries(totalsOf(found))
    .map(([name, value]) => `${name}=${rounded(value)}`)
    .join(' ')
