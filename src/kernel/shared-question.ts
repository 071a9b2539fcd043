import type { Clock } from './clock.ts'

interface Manners {
  clock: Clock
  /** How long those who ask wait for an answer. */
  withinMs: number
  /** How long an answer is given again, or that there was none. */
  keepMs: number
}

/**
 * A question that many may ask at once, of which one at a time is on its way. Undefined: it failed,
 * or had no answer in time. Until a late answer has come, everybody gets undefined at once, so that
 * a question that hangs is not asked again and again.
 */
export const sharedQuestion = <T>(
  question: () => Promise<T>,
  { clock, withinMs, keepMs }: Manners,
): (() => Promise<T | undefined>) => {
  let isOpen = false
  let answer: Promise<T | undefined> = Promise.resolve(undefined)
  let until = Number.NEGATIVE_INFINITY
  const ask = async (): Promise<T | undefined> => {
    const late = Promise.withResolvers<undefined>()
    let isLate = false
    using _timer = clock.after(withinMs, () => {
      isLate = true
      late.resolve(undefined)
    })
    const running = Promise.resolve()
      .then(question)
      .catch(() => undefined)
      .finally(() => {
        isOpen = false
        if (!isLate) until = clock.monotonic() + keepMs
      })
    return await Promise.race([running, late.promise])
  }
  return () => {
    if (isOpen || clock.monotonic() < until) return answer
    isOpen = true
    answer = ask()
    return answer
  }
}
