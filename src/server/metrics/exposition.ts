/** Prometheus's text format, version 0.0.4. */
import type { Spread } from '#kernel/tally'

export const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8'

type Labels = Readonly<Record<string, string>>

export interface Sample {
  labels?: Labels
  value: number
  /** What the name ends with, in a histogram. */
  suffix?: '_bucket' | '_sum' | '_count'
}

/** A metric, and how to read it. A counter's name ends with `_total`. */
export interface Family {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  read(): Sample[]
}

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')

const labelsOf = (labels: Labels = {}): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join()}}`
}

const numberOf = (value: number): string =>
  value === Number.POSITIVE_INFINITY ? '+Inf' : String(value)

export const exposition = (families: readonly Family[]): string =>
  families
    .map(({ name, type, help, read }) =>
      [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...read().map(
          ({ labels, value, suffix = '' }) =>
            `${name}${suffix}${labelsOf(labels)} ${numberOf(value)}`,
        ),
        '',
      ].join('\n'),
    )
    .join('')

/** A histogram of one series. */
export const histogram = ({ bounds, counts, sum }: Spread): Sample[] => {
  let total = 0
  const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound, index): Sample => {
    total += counts[index]!
    return { suffix: '_bucket', labels: { le: numberOf(bound) }, value: total }
  })
  return [...buckets, { suffix: '_sum', value: sum }, { suffix: '_count', value: total }]
}
