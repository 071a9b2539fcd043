import { one, sure } from './load.ts'

/** The time by the database's clock, which all decisions use. */
export const databaseTime = sure(
  one<{ now: Date }>({ now: true }, (sql) => sql`select clock_timestamp() as now`),
)
