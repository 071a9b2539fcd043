/** Prints the results of a benchmark: the machine, and a table. */
import { cpus, loadavg, release, totalmem } from 'node:os'
import type postgres from 'postgres'

/** One line of the table. */
export interface Row {
  what: string
  result: string
  /** What it is compared with, measured in the same run. */
  peer?: string
  ratio?: number
  /** The peer's processor time divided by ours: steadier than a rate on a machine with other load. */
  costRatio?: number
  goal?: string
}

const GIB = 2 ** 30

export const machine = async (owner: postgres.Sql, durable: boolean): Promise<string> => {
  const [row] = await owner<{ version: string }[]>`select current_setting('server_version') as version`
  const all = cpus()
  const cores = `${all.length} × ${all[0]?.model ?? 'unknown processor'}`
  const memory = `${Math.round(totalmem() / GIB)} GiB`
  const database = `Postgres ${row?.version} on this machine, fsync ${durable ? 'on' : 'off'}`
  return `${cores}, ${memory}, ${process.platform} ${release()}, Bun ${Bun.version}, ${database} over a Unix socket, load average before ${loadavg()[0]?.toFixed(1)}`
}

const number = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3))

export const speed = ({ perSecond, p50, p99 }: { perSecond: number; p50: number; p99: number }): string =>
  `${number(perSecond)}/s (p50 ${number(p50)}, p99 ${number(p99)} ms)`

export const median = (values: number[]): number => {
  const sorted = Float64Array.from(values).sort()
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

export const ms = (value: number): string => `${number(value)} ms`
export const mib = (value: number | undefined): string => (value === undefined ? 'unknown here' : `${number(value)} MiB`)

export const print = (rows: Row[]): void => {
  console.log('| what | result | compared with | ratio | by processor time | goal |\n|---|---|---|--:|--:|---|')
  const share = (value: number | undefined): string => (value === undefined || Number.isNaN(value) ? '' : value.toFixed(2))
  for (const { what, result, peer = '', ratio, costRatio, goal = '' } of rows)
    console.log(`| ${what} | ${result} | ${peer} | ${share(ratio)} | ${share(costRatio)} | ${goal} |`)
}
