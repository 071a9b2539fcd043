/** The database's client alone, a process of its own: so many callers, each asking again as soon as it has its answer. */
import type { ConnectionOptions } from '#store/db'
import { quantile, type Result } from './load.ts'
import { type Asked, type Kind, openPeer, queries } from './peer-sql.ts'

export interface LoopPlan {
  options: ConnectionOptions
  kind: Kind
  callers: number
  seconds: number
  warmUpSeconds: number
  asked: Asked[]
  /** Each is asked once at most. */
  once?: boolean
}

const run = async ({ options, kind, callers, seconds, warmUpSeconds, asked, once }: LoopPlan): Promise<Result> => {
  const sql = openPeer(options)
  const ask = queries[kind]
  const times: number[] = []
  const counted = performance.now() + warmUpSeconds * 1_000
  const ends = counted + seconds * 1_000
  let [sent, lastAt] = [0, counted]
  const caller = async () => {
    for (;;) {
      const sentAt = performance.now()
      if (sentAt >= ends || (once && sent >= asked.length)) return
      await ask(sql, asked[sent++ % asked.length]!)
      lastAt = performance.now()
      if (sentAt >= counted) times.push(lastAt - sentAt)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  await sql.end()
  const sorted = Float64Array.from(times).sort()
  const perSecond = times.length / (Math.max(lastAt - counted, 1) / 1_000)
  return { perSecond, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), count: times.length, statuses: {} }
}

console.log(JSON.stringify(await run((await Bun.stdin.json()) as LoopPlan)))
