/** What Postgres spent on each statement, as its extension pg_stat_statements counts it. */
import type postgres from 'postgres'

export interface Statement {
  text: string
  /** A request. */
  calls: number
  /**
   * Microseconds a request, planning included: time elapsed, so a commit's wait for the disk
   * counts, and so does waiting for a processor.
   */
  us: number
}

/** Dearest first. The same text under another role counts as one. */
export const statementsOf = async (owner: postgres.Sql, requests: number): Promise<Statement[]> => {
  const rows = await owner<{ text: string; calls: number; ms: number }[]>`
    select query as text, sum(calls)::float8 as calls, sum(total_exec_time + total_plan_time) as ms
    from pg_stat_statements where dbid = (select oid from pg_database
      where datname = current_database()) and query not like '%pg_stat_statements%'
    group by query order by ms desc`
  return rows.map(({ text, calls, ms }) => ({
    text: text.replaceAll(/\s+/g, ' '),
    calls: calls / requests,
    us: (ms * 1_000) / requests,
  }))
}
