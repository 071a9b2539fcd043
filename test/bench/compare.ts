/**
 * What changed between two files of figures: ratios, processor times, memory, and the figures that
 * goals are about.
 */
import { type Figure, type FiguresFile, measureOf, type Row } from './figures.ts'

/** Changes up to this share are noise. */
const NOISE = 0.1

type Compared = Figure | 'ratio' | 'costRatio'

/**
 * Rates and times elapsed depend on what else the machine does, so they are compared only where a
 * goal is about them.
 */
const ALWAYS: Compared[] = [
  'ratio',
  'costRatio',
  'slowdown',
  'serverUs',
  'postgresUs',
  'kib',
  'mib',
]
const MORE_IS_BETTER: Compared[] = ['ratio', 'costRatio', 'perSecond']

interface Change {
  section: string
  what: string
  of: Compared
  before: number
  after: number
  /** How the first peer's same figure changed, as a share: if as much, it was the machine. */
  peers?: number
}

export interface Comparison {
  better: Change[]
  worse: Change[]
  /** Rows that only one of the files has, as `section: row`. */
  unmatched: string[]
}

const peersChange = (of: Compared, before: Row, after: Row): Pick<Change, 'peers'> => {
  if (of === 'ratio' || of === 'costRatio') return {}
  const [was, is] = [before.peers?.[0]?.figures[of], after.peers?.[0]?.figures[of]]
  return was && is ? { peers: is / was - 1 } : {}
}

const changesOf = (section: string, before: Row, after: Row): Change[] =>
  [...new Set([...ALWAYS, ...(after.goals ?? []).map(({ of }) => of)])].flatMap((of) => {
    const [was, is] = [measureOf(before, of), measureOf(after, of)]
    if (was === undefined || is === undefined || !(Math.abs(is - was) > NOISE * Math.abs(was)))
      return []
    return [
      { section, what: after.what, of, before: was, after: is, ...peersChange(of, before, after) },
    ]
  })

const isBetter = ({ of, before, after }: Change): boolean =>
  MORE_IS_BETTER.includes(of) === after > before

/** Only the sections that `after` has are compared. */
export const compare = (before: FiguresFile, after: FiguresFile): Comparison => {
  const changes: Change[] = []
  const unmatched: string[] = []
  for (const [section, { rows }] of Object.entries(after)) {
    const known = new Map(before[section]?.rows.map((row) => [row.what, row]))
    for (const row of rows) {
      const old = known.get(row.what)
      if (old) changes.push(...changesOf(section, old, row))
      else unmatched.push(`${section}: ${row.what}`)
      known.delete(row.what)
    }
    unmatched.push(...[...known.keys()].map((what) => `${section}: ${what}`))
  }
  return {
    better: changes.filter(isBetter),
    worse: changes.filter((change) => !isBetter(change)),
    unmatched,
  }
}

const labels: Partial<Record<Compared, string>> = {
  ratio: 'ratio',
  costRatio: 'ratio by processor time',
  serverUs: 'µs in the server',
  postgresUs: 'µs in Postgres',
}

const number = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)

const percent = (share: number): string => `${share > 0 ? '+' : ''}${Math.round(share * 100)} %`

const lineOf = ({ section, what, of, before, after, peers }: Change): string => {
  const shares = `${percent(after / before - 1)}${peers === undefined ? '' : `; the peer's ${percent(peers)}`}`
  return `  ${section}: ${what}: ${labels[of] ?? of} ${number(before)} → ${number(after)} (${shares})`
}

/** Lines to print: worse first. */
export const comparisonText = ({ better, worse, unmatched }: Comparison): string => {
  const list = (title: string, lines: string[]): string[] =>
    lines.length > 0 ? [`${title}:`, ...lines] : [`${title}: nothing`]
  return [
    ...list('Worse by more than 10 %', worse.map(lineOf)),
    ...list('Better by more than 10 %', better.map(lineOf)),
    ...(unmatched.length > 0
      ? list(
          'Only in one of the two',
          unmatched.map((line) => `  ${line}`),
        )
      : []),
  ].join('\n')
}
