/**
 * The bench's results as data: what a section measures, and the file that keeps the last full run
 * of each.
 */

/**
 * Numbers of one contestant. The name gives the unit: `Us` is processor time a request (or job, or
 * post) in microseconds, `Ms` is elapsed time in milliseconds.
 */
export type Figures = Partial<Record<Figure, number>>

export type Figure =
  | 'perSecond'
  | 'floodPerSecond'
  | 'ms'
  | 'p50Ms'
  | 'quietP99Ms'
  | 'p99Ms'
  | 'longestMs'
  | 'stopMs'
  /**
   * The time of a turn of the agent without the model's own: the median, and the 99th percentile.
   */
  | 'overheadMs'
  | 'overheadP99Ms'
  /** Our p99 under another tenant's flood, over the p99 without it. */
  | 'slowdown'
  | 'serverUs'
  | 'postgresUs'
  | 'generatorUs'
  | 'bytes'
  /** The size of an answer with its head. In the file only. */
  | 'answerBytes'
  | 'kib'
  | 'mib'

/** What is compared with ours, measured in the same run. */
export interface Peer {
  name: string
  figures: Figures
  /** Our speed over the peer's: above 1, we are faster. */
  ratio?: number
  /**
   * The peer's processor time over ours: steadier than a rate on a machine with other load. Above
   * 1, we take less.
   */
  costRatio?: number
}

/** A bound for one of our figures, or for a ratio to the first peer. */
export interface Goal {
  of: Figure | 'ratio' | 'costRatio'
  atLeast?: number
  atMost?: number
  /** What the ratio is one of, if not of rates. */
  by?: string
  /** It is enough to reach this one. */
  or?: Goal
}

/** One line of a section's table. */
export interface Row {
  /** The same in every run of a section, so that runs can be compared. */
  what: string
  figures: Figures
  peers?: Peer[]
  goals?: Goal[]
}

/** One section's results, and where they come from. */
export interface Section {
  /** Abbreviated hash; `+` follows it if the source had uncommitted changes. */
  commit: string
  /** Year, month and day. */
  date: string
  machine: string
  rows: Row[]
}

export type FiguresFile = Record<string, Section>

/** What a goal is about, of this row. */
export const measureOf = ({ figures, peers = [] }: Row, of: Goal['of']): number | undefined =>
  of === 'ratio' || of === 'costRatio' ? peers[0]?.[of] : figures[of]

const meets = (
  value: number,
  { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY }: Goal,
): boolean => value >= atLeast && value <= atMost

/** What could not be measured misses no goal. */
export const misses = (row: Row, goal: Goal): boolean => {
  const value = measureOf(row, goal.of)
  return (
    value !== undefined &&
    !Number.isNaN(value) &&
    !meets(value, goal) &&
    (goal.or === undefined || misses(row, goal.or))
  )
}

export const median = (values: number[]): number => {
  const sorted = Float64Array.from(values).sort()
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

const DIGITS = 4
/** Whole numbers stay whole; without /proc a processor time is not a number, and is left out. */
const short = (_: string, value: unknown): unknown => {
  if (typeof value !== 'number') return value
  if (Number.isNaN(value)) return undefined
  return Math.abs(value) >= 10 ** (DIGITS - 1)
    ? Math.round(value)
    : Number(value.toPrecision(DIGITS))
}

/** JSON with one row a line, so that a change of the file reads as rows that changed. */
export const figuresText = (file: FiguresFile): string => {
  const sections = Object.entries(file).map(([name, { rows, ...origin }]) => {
    const head = Object.entries(origin).map(
      ([key, value]) => `    ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`,
    )
    const lines = rows.map((row) => `      ${JSON.stringify(row, short)}`)
    return `  ${JSON.stringify(name)}: {\n${head.join('')}    "rows": [\n${lines.join(',\n')}\n    ]\n  }`
  })
  return `{\n${sections.join(',\n')}\n}\n`
}

export const FIGURES = `${import.meta.dir}/figures.json`

export const readFigures = async (path = FIGURES): Promise<FiguresFile> => {
  const file = Bun.file(path)
  return (await file.exists()) ? ((await file.json()) as FiguresFile) : {}
}

/** Replaces the sections that were measured and keeps the others, in the order of `names`. */
export const merged = (
  before: FiguresFile,
  measured: FiguresFile,
  names: readonly string[],
): FiguresFile => {
  const all = { ...before, ...measured }
  return Object.fromEntries(names.flatMap((name) => (all[name] ? [[name, all[name]]] : [])))
}
