/** An embedded Postgres that counts what its statements spend (pg_stat_statements). */
import postgres from 'postgres'
import { createLog } from '#kernel/log'
import { startEmbedded } from '#postgres/start'

/**
 * Starts Postgres in this folder once before, as its extensions are chosen at the start.
 * `settings`: others that it shall have.
 */
export const countAt = async (
  home: string,
  settings: Record<string, string> = {},
): Promise<void> => {
  await using stack = new AsyncDisposableStack()
  const { target } = stack.use(
    await startEmbedded({ home, log: createLog('error'), durable: false }),
  )
  const owner = postgres({ ...target, max: 1 })
  stack.defer(() => owner.end({ timeout: 1 }))
  const all = {
    shared_preload_libraries: 'pg_stat_statements',
    'pg_stat_statements.track_planning': 'on',
    ...settings,
  }
  for (const [name, value] of Object.entries(all))
    await owner.unsafe(`alter system set ${name} = '${value}'`)
}

/** Forgets what was counted. */
export const resetStatements = async (owner: postgres.Sql): Promise<void> => {
  await owner`create extension if not exists pg_stat_statements`
  await owner`select pg_stat_statements_reset()`
}
