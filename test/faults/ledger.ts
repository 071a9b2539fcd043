/** What a harness has counted, and its verdict. */

/** In the order of the summary line. */
export type Counts = Record<string, number | string>

export interface Ledger {
  counts: Counts
  /** What must never happen, and how often it did. */
  never?: Readonly<Record<string, number>>
  /** What must have happened, or the run proves nothing. */
  atStake?: Readonly<Record<string, number>>
  /** Other violations, in words. */
  broken?: readonly string[]
  /** Answers that nobody should get; only the first few are kept. */
  wrong?: readonly string[]
  /** What took too long, in words. */
  late?: string[]
}

export interface Verdict {
  counts: Counts
  /** Each broken invariant, described; the run has passed if there is none. */
  broken: string[]
  /**
   * What took too long. A busy machine can cause that, so only a harness that runs alone counts it
   * as a violation.
   */
  late?: string[]
}

const MOST_WRONG = 20

export const verdictOn = ({ counts, late, ...ledger }: Ledger): Verdict => {
  const { never = {}, atStake = {}, broken = [], wrong = [] } = ledger
  const met = Object.entries(never).filter(([, times]) => times > 0)
  const missed = Object.entries(atStake).filter(([, times]) => times === 0)
  return {
    counts,
    broken: [
      ...broken,
      ...met.map(([rule, times]) => `${rule}: ${times}`),
      ...missed.map(([what]) => `nothing was at stake: ${what} is 0`),
      ...wrong.slice(0, MOST_WRONG),
    ],
    ...(late && { late }),
  }
}

/**
 * The verdict on a program that makes a mistake on purpose: a harness that does not find it would
 * not notice it elsewhere either. `what`: what it should have found. `least`: how often.
 */
export const verdictOnNaive = (
  counts: Counts,
  found: Readonly<Record<string, number>>,
  least = 0,
): Verdict => ({
  counts,
  broken: Object.entries(found).flatMap(([what, times]) =>
    times > least ? [] : [`${what}: ${times}, so that the harness would not notice it`],
  ),
})

/**
 * Waits until nothing is left, or until what is left has not changed for this long. Returns the
 * violations, in words.
 */
export const untilNoneIsLeft = async (
  what: string,
  standstillMs: number,
  left: () => Promise<number>,
): Promise<string[]> => {
  let [now, since] = [await left(), performance.now()]
  while (now > 0) {
    if (performance.now() - since > standstillMs)
      return [`${now} ${what} are left, and nothing happened to them for ${standstillMs} ms`]
    await Bun.sleep(POLL_MS)
    const next = await left()
    if (next !== now) since = performance.now()
    now = next
  }
  return []
}

const POLL_MS = 100

/** The count in the only row. */
export const countIn = async (rows: Promise<readonly { n: number }[]>): Promise<number> =>
  (await one(rows)).n

/** The only row. */
export const one = async <T>(rows: Promise<readonly T[]>): Promise<T> => (await rows)[0]!
