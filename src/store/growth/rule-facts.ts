/** Counts and fields that the conditions of rules compare. */
import type { Fragment, Sql } from '../engine/db.ts'

const count = async (rows: Fragment<{ count: number }>): Promise<number> => (await rows)[0]!.count

export const countDrafted = (sql: Sql): Promise<number> =>
  count(sql`select count(*)::int from item where status = 'drafted'`)

/** Approved items with a post time after `now`. */
export const countScheduled = (sql: Sql, now: Date): Promise<number> =>
  count(sql`select count(*)::int from item where status = 'approved' and post_at > ${now}`)

export const countPosted = (sql: Sql, since: Date): Promise<number> =>
  count(sql`select count(*)::int from item where status = 'posted' and posted_at >= ${since}`)

export interface ItemFields {
  hook: string
  format: string
  kind: string
}

export const fieldsOfItem = async (sql: Sql, id: string): Promise<ItemFields | undefined> =>
  (await sql<ItemFields>`select hook, format, kind from item where id = ${id}`)[0]
