import { batchRecord } from '#contract/records/growth/batch'
import type { Batch } from '#domain/growth/drafting/batch'
import { fail } from '#kernel/errors'
import type { Query, Sql } from '../engine/db.ts'
import { one } from '../engine/load.ts'
import { tableOf } from '../engine/records.ts'
import { type GenerationsPage, ofGenerations } from './generations.ts'

const table = tableOf(batchRecord)
const { columns } = table

export const batchById =
  (id: string): Query<Batch> =>
  (sql) =>
    sql`select ${columns(sql)} from batch where id = ${id}`

export const batchPart = (id: string) => one<Batch>(table.times, batchById(id))

export const listBatches =
  (page: GenerationsPage): Query<Batch> =>
  (sql) =>
    sql`select ${columns(sql)} from batch where ${ofGenerations(sql, page)}`

export const lockBatch = async (sql: Sql, id: string): Promise<Batch> =>
  (await sql<Batch>`select ${columns(sql)} from batch where id = ${id} for update`)[0] ??
  fail('not_found', 'no such batch')

export const { insert: insertBatch, save: saveBatch } = table
