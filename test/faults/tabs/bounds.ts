/** Whether each tab showed each commit in time, by when its stream stood. */
import type { StreamSpan } from './address.ts'
import type { Commit, PageLoad } from './watch.ts'

/** While a stream stands; after its return; whatever happens. */
export const LIMITS = { open: 2_000, returned: 5_000, ever: 25_000 }

interface Span {
  from: number
  to: number
}

/** When a tab with these pages, one after the other, had a stream. */
export const spansOf = (
  pages: readonly PageLoad[],
  streams: readonly StreamSpan[],
  session: string,
): Span[] =>
  pages.flatMap(({ at, worker }, nth) => {
    const until = pages[nth + 1]?.began ?? Number.POSITIVE_INFINITY
    return streams
      .filter((stream) => stream.worker === worker && stream.session === session)
      .map(({ opened, closed = Number.POSITIVE_INFINITY }) => ({
        from: Math.max(at, opened),
        to: Math.min(until, closed),
      }))
      .filter(({ from, to }) => from < to)
  })

const standsDuring = (spans: readonly Span[], from: number, ms: number): boolean =>
  spans.some((span) => span.from <= from && span.to >= from + ms)

interface Due {
  rule: keyof typeof LIMITS
  by: number
}

/** When a tab with these streams must show what was committed then. */
export const dueOf = (spans: readonly Span[], at: number): Due => {
  if (standsDuring(spans, at, LIMITS.open)) return { rule: 'open', by: at + LIMITS.open }
  const returns = spans.map(({ from }) => Math.max(from, at)).sort((a, b) => a - b)
  const back = returns.find((from) => standsDuring(spans, from, LIMITS.returned))
  if (back === undefined || back + LIMITS.returned > at + LIMITS.ever)
    return { rule: 'ever', by: at + LIMITS.ever }
  return { rule: 'returned', by: back + LIMITS.returned }
}

export interface Times {
  /** Milliseconds from each commit until a tab showed it, ascending, by the rule that held. */
  ms: Record<keyof typeof LIMITS, number[]>
  late: string[]
}

export interface Judging {
  commits: readonly Commit[]
  tabs: readonly string[]
  loads: readonly PageLoad[]
  streams: readonly StreamSpan[]
  session: string
}

export const timesOf = ({ commits, tabs, loads, streams, session }: Judging): Times => {
  const times: Times = { ms: { open: [], returned: [], ever: [] }, late: [] }
  for (const tab of tabs) {
    const pages = loads.filter((load) => load.tab === tab)
    const spans = spansOf(pages, streams, session)
    for (const { what, sent, seen } of commits) {
      const at = seen.get(tab)
      const due = dueOf(spans, sent)
      times.ms[due.rule].push((at ?? Number.POSITIVE_INFINITY) - sent)
      if (at === undefined) times.late.push(`${tab} never showed that ${what}`)
      else if (at > due.by)
        times.late.push(
          `${tab} showed after ${at - sent} ms that ${what} (${due.rule}: ${due.by - sent})`,
        )
    }
  }
  for (const all of Object.values(times.ms)) all.sort((a, b) => a - b)
  return times
}

/** The value that this share of the sorted values does not exceed. */
export const shareOf = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
