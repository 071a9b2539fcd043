/** Where a command runs: with the database alone, or as a process of the deployment. */
import { joinDatabase } from '#server/database'
import { type Db, openDb } from '#store/engine/db'
import type { AdminContext } from './flags.ts'

/** Uses the running server's database, or opens the database for as long as the command runs. */
export const withDb = async <T>(
  { config, log }: AdminContext,
  work: (db: Db) => Promise<T>,
): Promise<T> => {
  await using database = await joinDatabase(config, log)
  await using db = openDb({ ...database.options, max: 1 })
  return await work(db)
}
