import { articleRecord } from '#contract/records/growth/article'
import type { Article } from '#domain/growth/drafting/article'
import { fail } from '#kernel/errors'
import type { Query, Sql } from '../engine/db.ts'
import { tableOf } from '../engine/records.ts'
import { type GenerationsPage, ofGenerations } from './generations.ts'

const table = tableOf(articleRecord)
const { columns } = table

export const articleById =
  (id: string): Query<Article> =>
  (sql) =>
    sql`select ${columns(sql)} from article where id = ${id}`

export const listArticles =
  (page: GenerationsPage): Query<Article> =>
  (sql) =>
    sql`select ${columns(sql)} from article where ${ofGenerations(sql, page)}`

export const lockArticle = async (sql: Sql, id: string): Promise<Article> =>
  (await sql<Article>`select ${columns(sql)} from article where id = ${id} for update`)[0] ??
  fail('not_found', 'no such article')

export const { insert: insertArticle, save: saveArticle } = table

/** An article takes the title with which its item was approved. */
export const retitleArticle =
  ({ id, title, updated_at }: { id: string; title: string | null; updated_at: Date }): Query =>
  (sql) =>
    sql`update article set title = ${title}, updated_at = ${updated_at} where item_id = ${id}`

/** What the article of an item was requested with. */
export const articleOfItem = async (
  sql: Sql,
  itemId: string,
): Promise<Pick<Article, 'topic' | 'length' | 'outline'> | undefined> =>
  (
    await sql<
      Pick<Article, 'topic' | 'length' | 'outline'>
    >`select topic, length, outline from article where item_id = ${itemId}`
  )[0]
