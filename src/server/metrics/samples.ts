/** Makes metrics of what was counted. */
import type { Tally } from '#kernel/tally'
import type { Family, Sample } from './exposition.ts'

/** No sample of what is not known. */
export const sample = (value: number | null | undefined): Sample[] =>
  value === undefined || value === null ? [] : [{ value }]

/** A sample for each name and ending that were counted. */
export const byEnding = <E extends string>(
  tally: Tally<E>,
  name: string,
  ending: string,
): Sample[] =>
  [...tally.entries()].flatMap(([named, row]) =>
    tally.endings.map((end) => ({
      labels: name === '' ? { [ending]: end } : { [name]: named, [ending]: end },
      value: row[end],
    })),
  )

/** Of kinds of letters there are many, and most end in one way alone. */
export const occurred = (samples: Sample[]): Sample[] => samples.filter(({ value }) => value > 0)

const family =
  (type: Family['type']) =>
  (name: string, help: string, samples: Sample[]): Family => ({
    name: `tendril_${name}`,
    type,
    help,
    read: () => samples,
  })
export const [counter, gauge, spread] = [family('counter'), family('gauge'), family('histogram')]
