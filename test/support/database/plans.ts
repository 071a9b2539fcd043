/** What Postgres reads for a statement, as its plan says. */
import { newId } from '#kernel/ids'
import type { Db, Query, Sql } from '#store/engine/db'

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
