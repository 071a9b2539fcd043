/**
 * The database client alone, in a process of its own: each caller sends its next query as soon as
 * it has its answer.
 */
import type postgres from 'postgres'
import { connectionOptionsOf } from '#server/database-url'
import { quantile, type Result } from './load.ts'
import { type Asked, type Kind, openPeer, queries } from './peer-sql.ts'
import { serveLines } from './spawn.ts'

export interface LoopPlan {
  kind: Kind
  callers: number
  seconds: number
  warmUpSeconds: number
  asked: Asked[]
  /** Sends each query once at most. */
  once?: boolean
}

const run = async (
  sql: postgres.Sql,
  { kind, callers, seconds, warmUpSeconds, asked, once }: LoopPlan,
): Promise<Result> => {
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
  const sorted = Float64Array.from(times).sort()
  const perSecond = times.length / (Math.max(lastAt - counted, 1) / 1_000)
  const [p50, p99] = [quantile(sorted, 0.5), quantile(sorted, 0.99)]
  return { perSecond, p50, p99, count: times.length, statuses: {}, bytes: 0, cpuMs: 0 }
}

const sql = openPeer(connectionOptionsOf(process.env.DATABASE_URL ?? ''))
await serveLines((plan: LoopPlan) => run(sql, plan))
await sql.end()
