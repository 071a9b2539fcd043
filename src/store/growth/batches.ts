import type { Batch } from '#domain/growth/drafting/batch'
import { fail } from '#kernel/errors'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { one } from '../engine/load.ts'
import { type GenerationsPage, ofGenerations } from './generations.ts'

const columns = (sql: Sql): Fragment =>
  sql`id, status, error, focus, experiment_id, requested, delivered, shortfall, model, usage, created_at, updated_at`

export const batchById =
  (id: string): Query<Batch> =>
  (sql) =>
    sql`select ${columns(sql)} from batch where id = ${id}`

export const batchPart = (id: string) => one<Batch>({ created_at: true, updated_at: true }, batchById(id))

export const listBatches =
  (page: GenerationsPage): Query<Batch> =>
  (sql) =>
    sql`select ${columns(sql)} from batch where ${ofGenerations(sql, page)}`

export const lockBatch = async (sql: Sql, id: string): Promise<Batch> =>
  (await sql<Batch>`select ${columns(sql)} from batch where id = ${id} for update`)[0] ?? fail('not_found', 'no such batch')

export const insertBatch =
  (batch: Batch): Query =>
  (sql) =>
    sql`insert into batch ${sql({ ...batch, usage: null })}`

export const saveBatch =
  ({ id, ...batch }: Batch): Query =>
  (sql) =>
    sql`update batch set status = ${batch.status}, error = ${batch.error}, delivered = ${batch.delivered},
      shortfall = ${batch.shortfall}, model = ${batch.model}, usage = ${batch.usage ? sql.json(batch.usage) : null}, updated_at = ${batch.updated_at} where id = ${id}`
