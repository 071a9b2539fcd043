/** The text of results: the only place where a figure becomes words. */
import {
  type Figure,
  type Figures,
  type FiguresFile,
  type Goal,
  misses,
  type Peer,
  type Row,
} from './figures.ts'

const number = (value: number): string => {
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(value < 10 ? 2 : 3)))
}

/** Milliseconds, as seconds from ten on. */
const time = (ms: number): string => (ms >= 10_000 ? `${number(ms / 1_000)} s` : `${number(ms)} ms`)
const size = (bytes: number): string => `${number(bytes)} B`

/** How each figure is written, in this order. Processor times are written together. */
const texts: Record<
  Exclude<Figure, 'serverUs' | 'postgresUs' | 'answerBytes'>,
  (value: number) => string
> = {
  perSecond: (value) => `${number(value)}/s`,
  ms: time,
  p50Ms: (value) => `p50 ${time(value)}`,
  quietP99Ms: (value) => `p99 alone ${time(value)}`,
  p99Ms: (value) => `p99 ${time(value)}`,
  overheadMs: (value) => `beside the model ${time(value)}`,
  overheadP99Ms: (value) => `beside it p99 ${time(value)}`,
  longestMs: (value) => `longest ${time(value)}`,
  slowdown: (value) => `× ${value.toFixed(2)}`,
  floodPerSecond: (value) => `the flood ${number(value)}/s`,
  generatorUs: (value) => `${number(value)} µs in the load generator`,
  mib: (value) => `${number(value)} MiB`,
  kib: (value) => `${number(value)} KiB`,
  bytes: size,
  stopMs: (value) => `stops in ${time(value)}`,
}

const processorTime = ({ serverUs, postgresUs }: Figures): string[] => {
  const parts = [serverUs, postgresUs].filter(
    (value) => value !== undefined && !Number.isNaN(value),
  )
  return parts.length > 0 ? [`${parts.map((value) => number(value!)).join(' + ')} µs`] : []
}

const figuresText = (figures: Figures): string => {
  const names = Object.keys(texts) as (keyof typeof texts)[]
  const all = names.flatMap((name) =>
    figures[name] === undefined ? [] : texts[name](figures[name]),
  )
  return [...all, ...processorTime(figures)].join(', ')
}

const share = (value: number | undefined): string =>
  value === undefined || Number.isNaN(value) ? '' : value.toFixed(2)

const peerText = ({ name, figures, ratio, costRatio }: Peer, index: number): string => {
  const text = `${name} ${figuresText(figures)}`.trimEnd()
  const ratios = [share(ratio), share(costRatio)].filter(Boolean)
  // The first peer's ratios have columns of their own.
  return index > 0 && ratios.length > 0 ? `${text} (${ratios.join('; ')})` : text
}

const labels: Partial<Record<Goal['of'], string>> = {
  ratio: 'rate',
  costRatio: 'processor time',
}

const boundText = ({ of, atLeast, atMost, by, or }: Goal): string => {
  const bound = (value: number): string =>
    of in texts ? texts[of as keyof typeof texts](value) : `${number(value)} by ${by ?? labels[of]}`
  const text = atLeast === undefined ? `≤ ${bound(atMost!)}` : `≥ ${bound(atLeast)}`
  return or ? `${text} or ${boundText(or)}` : text
}

const goalText = (row: Row, goal: Goal): string =>
  misses(row, goal) ? `${boundText(goal)}, **missed**` : boundText(goal)

export const tableOf = (rows: Row[]): string[] => [
  '| what | Tendril | peers | ratio | by processor time | goal |',
  '|---|---|---|--:|--:|---|',
  ...rows.map((row) => {
    const { what, figures, peers = [], goals = [] } = row
    return `| ${what} | ${figuresText(figures)} | ${peers.map(peerText).join('; ')} | ${share(peers[0]?.ratio)} | ${share(peers[0]?.costRatio)} | ${goals.map((goal) => goalText(row, goal)).join('; ')} |`
  }),
]

/**
 * Markdown of a whole file: a heading and a table for each section, and an origin where it is not
 * that of the section before.
 */
export const fileText = (file: FiguresFile): string => {
  let last = ''
  const parts = Object.entries(file).map(([name, { commit, date, machine, rows }]) => {
    const origin = `Measured at ${commit}, ${date}: ${machine}.\n`
    const lines = [`### ${name}`, ...(origin === last ? [] : [origin]), ...tableOf(rows)]
    last = origin
    return lines.join('\n')
  })
  return parts.join('\n\n')
}
