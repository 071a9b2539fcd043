/**
 * What one thing costs the database, counted by Postgres, on one of its own, where noise cannot
 * touch it: a busy machine changes none of it.
 */
import type postgres from 'postgres'
import { createLog } from '#kernel/log'
import { startEmbedded } from '#postgres/start'
import { migrate } from '#store/engine/migrate'
import type { AppOptions, TestApp } from '../app.ts'
import { temporaryFolder } from '../folder.ts'
import { countAt, resetStatements } from './counting.ts'
import { type CountedApp, countedApp } from './round-trips.ts'

/** Medians of some runs: now and then one splits a page of an index. */
export interface Spent {
  /** Bytes of the write-ahead log, without copies of whole pages. */
  log: number
  /** Pages that were looked at. */
  pages: number
  /**
   * Nodes of the plans. Postgres prepares each at every execution, which takes most of the time of
   * statements that find few rows.
   */
  nodes: number
}

export interface SpendingApp extends AsyncDisposable {
  counted: CountedApp
  /** `run` gets another number each time, up to 25. All that follows from a run is its own. */
  spent(run: (n: number) => Promise<unknown>): Promise<Spent>
}

interface PlanNode {
  Plans?: PlanNode[]
}

const nodesIn = ({ Plans = [] }: PlanNode): number =>
  1 + Plans.reduce((sum, plan) => sum + nodesIn(plan), 0)

/** Statements that have a plan. */
const PLANNED = /^\s*(select|with|insert|update|delete)/

const planNodes = async (owner: postgres.Sql, texts: readonly string[]): Promise<number> => {
  const known = new Map<string, number>()
  for (const text of new Set(texts.filter((one) => PLANNED.test(one)))) {
    const [row] = await owner.unsafe(`explain (generic_plan, format json) ${text}`)
    known.set(text, nodesIn(row!['QUERY PLAN'][0].Plan))
  }
  return texts.reduce((sum, text) => sum + (known.get(text) ?? 0), 0)
}

/** What processes repeat, whatever is asked of them. */
const REPEATED = /^update node|from node n|where wake_at <= now\(\)|pg_stat_statements/

/** Of whatever the server's roles sent. */
const spentOf = async (owner: postgres.Sql): Promise<{ log: number; pages: number }> => {
  const rows = await owner<{ query: string; log: number; pages: number }[]>`
    select query, wal_bytes::float8 as log,
      (shared_blks_hit + shared_blks_read)::float8 as pages from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database())
      and userid <> (select oid from pg_roles where rolname = current_user)`
  const ours = rows.filter(({ query }) => !REPEATED.test(query.replaceAll(/\s+/g, ' ')))
  return {
    log: ours.reduce((sum, { log }) => sum + log, 0),
    pages: ours.reduce((sum, { pages }) => sum + pages, 0),
  }
}

const WARM_UP = 6
const RUNS = 20

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

/** Small tables are read by their indexes as well, as they are once they have grown. */
const BY_INDEXES = { enable_seqscan: 'off', enable_bitmapscan: 'off' }

/** Opens a whole Tendril on a Postgres of its own. */
export const spendingApp = async (options: AppOptions = {}): Promise<SpendingApp> => {
  await using stack = new AsyncDisposableStack()
  const log = createLog('silent')
  const home = stack.use(await temporaryFolder())
  await countAt(home.path, BY_INDEXES)
  const { target } = stack.use(await startEmbedded({ home: home.path, log, durable: false }))
  await migrate(target, log)
  const counted = stack.use(await countedApp({ ...options, database: target }))
  const { owner }: TestApp = counted.app
  const owned = stack.move()
  return {
    counted,
    spent: async (run) => {
      // Plans are made, and caches filled.
      for (let n = 0; n < WARM_UP; n++) await counted.cost(() => run(n))
      const all: Omit<Spent, 'nodes'>[] = []
      let texts: readonly string[] = []
      for (let n = WARM_UP; n < WARM_UP + RUNS; n++) {
        await resetStatements(owner)
        texts = (await counted.cost(() => run(n))).texts
        all.push(await spentOf(owner))
      }
      return {
        log: median(all.map(({ log: bytes }) => bytes)),
        pages: median(all.map(({ pages }) => pages)),
        nodes: await planNodes(owner, texts),
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
