/** What Postgres reads for a statement, as its plan says. */
import type postgres from 'postgres'
import { newId } from '#kernel/ids'
import type { Db, Query, Sql } from '#store/engine/db'
import { eventually } from '../eventually.ts'

export interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  'Sort Key'?: string[]
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

/** Of a statement that was run: `analyze` for the rows, `buffers` for the blocks. */
export interface RunNode extends PlanNode {
  'Actual Rows': number
  'Actual Loops': number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
}

/**
 * Makes the tables known to the planner. A transaction that runs beside keeps a vacuum from marking
 * pages as visible to all, and then an index alone seems to cost more than the table.
 */
export const vacuum = async (owner: postgres.Sql, ...tables: string[]): Promise<void> => {
  const hidden = async () => {
    await owner.unsafe(`vacuum analyze ${tables.join(', ')}`)
    const [row] = await owner<{ pages: number }[]>`
      select sum(relpages - relallvisible)::int as pages from pg_class
        where oid = any(${tables}::regclass[])`
    return row!.pages
  }
  await eventually(hidden, (pages) => pages === 0)
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** The nodes of the plan, the topmost first. */
export const planOf = async (sql: Sql, statement: ReturnType<Query>): Promise<PlanNode[]> => {
  const [row] = await sql<{
    'QUERY PLAN': [{ Plan: PlanNode }]
  }>`explain (format json) ${statement}`
  return nodesOf(row!['QUERY PLAN'][0].Plan)
}

/** The same of a statement that it runs. */
export const planAsRun = async (sql: Sql, statement: ReturnType<Query>): Promise<RunNode[]> => {
  const [row] = await sql<{
    'QUERY PLAN': [{ Plan: PlanNode }]
  }>`explain (analyze, buffers, format json) ${statement}`
  return nodesOf(row!['QUERY PLAN'][0].Plan) as RunNode[]
}

class TakenBack extends Error {}

/** Runs a transaction as the server does, as this tenant or as none, and takes it back. */
export const takenBack = async <T>(
  db: Db,
  tenantId: string | null,
  run: (sql: Sql) => PromiseLike<T>,
): Promise<T> => {
  const { promise, resolve } = Promise.withResolvers<T>()
  await db
    .letter(tenantId ?? newId(), async (sql) => {
      if (tenantId) await sql`select set_config('app.tenant', ${tenantId}, true)`
      resolve(await run(sql))
      throw new TakenBack()
    })
    .catch((cause) => {
      if (!(cause instanceof TakenBack)) throw cause
    })
  return promise
}
