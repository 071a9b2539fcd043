import type { Query } from './db.ts'

/** Where and how often to post. A workspace has a handful. */
export const growthChannels: Query = (sql) =>
  sql`select id, name, status, format_rules, cadence, created_at, updated_at from growth_channel order by id limit 100`
