import { one, sure } from './load.ts'

/** The time by the clock of the database, which every decision goes by. */
export const databaseTime = sure(
  one<{ now: Date }>({ now: true }, (sql) => sql`select clock_timestamp() as now`),
)
