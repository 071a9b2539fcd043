/** What the lists of all kinds of generations share. */
import type { Generation } from '#domain/growth/drafting/generation'
import type { Fragment, Sql } from '../engine/db.ts'
import { inPeriod, type Page, type Period } from '../engine/page.ts'

export type GenerationsPage = Page & Period & { status?: Generation['status'] | undefined }

/** The condition, the order and the bound of a list, newest first. */
export const ofGenerations = (
  sql: Sql,
  { status, limit, after, ...period }: GenerationsPage,
): Fragment =>
  sql`${status ? sql`status = ${status}` : sql`true`} ${inPeriod(sql, sql`created_at`, period)}
    ${after ? sql`and id < ${after}` : sql``}
    order by id desc limit ${limit + 1}`
