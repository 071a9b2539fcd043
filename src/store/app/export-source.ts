/** Where an export reads the records of a kind. */
import { type Declared, exportedOf } from '#contract/records/record'
import type { Fragment, Sql } from '../engine/db.ts'

export interface ExportSource {
  table: string
  /** The exported columns. */
  columns: readonly string[]
  /**
   * The reading order: columns that never change, with their types. Unless `within` is set, an
   * index begins with them.
   */
  key: readonly (readonly [column: string, type: 'uuid' | 'text' | 'int'])[]
  /** The column that only rows of this kind have. Set for a table that holds several kinds. */
  having?: string
  /** How many rows are read at once. Set for rows that can be large. */
  page?: number
  /** Selects the tenant's rows first. Set for tables that are small in each workspace. */
  within?: (sql: Sql) => Fragment
}

export const byId = [['id', 'uuid']] as const
export const timeColumns = ['created_at', 'updated_at'] as const

/**
 * The source of a declared record, in the order of its ids. `more`: whatever differs for this one.
 */
export const exportSourceOf = (
  record: Declared,
  more: Partial<ExportSource> = {},
): ExportSource => ({
  table: record.table,
  columns: exportedOf(record),
  key: byId,
  ...more,
})

/** All rows of a table that is small in each workspace. */
export const wholeTable = (table: string) => (sql: Sql) => sql`select * from ${sql(table)}`
