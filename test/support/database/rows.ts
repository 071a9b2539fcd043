/** One row of a workspace in each table, written past every policy. */
import type postgres from 'postgres'
import { newId } from '#kernel/ids'
import { agentRows } from './agent-rows.ts'
import { appRows } from './app-rows.ts'
import { growthRows } from './growth-rows.ts'
import type { RowsOf } from './sample.ts'

/** The text with which every row shows its workspace, so that a leak is recognised. */
export const markOf = (tenantId: string): string => `row of ${tenantId}`

const DAY_MS = 86_400_000

/** In the order in which they can be written. */
const sampleRows = (tenantId: string, person: string) => {
  const now = new Date()
  const tomorrow = new Date(now.getTime() + DAY_MS)
  const of: RowsOf = {
    mark: markOf(tenantId),
    person,
    item: newId(),
    batch: newId(),
    now,
    tomorrow,
  }
  return { ...growthRows(of), ...appRows(of), ...agentRows(of) }
}

/** Tables of rows that have another name here, because the table holds several kinds. */
const tableOf: Partial<Record<string, string>> = { engagement_attempt: 'attempt' }

/** By table. */
export type Rows = ReturnType<typeof sampleRows>

/** Writes the rows of a tenant, which must exist. */
export const writeRows = async (owner: postgres.Sql, tenantId: string): Promise<Rows> => {
  const person = newId()
  await owner`insert into person (id, email, email_key, name, password_hash)
    values (${person}, ${markOf(tenantId)}, ${person}, ${markOf(tenantId)}, 'none')`
  const rows = sampleRows(tenantId, person)
  for (const [table, row] of Object.entries(rows)) {
    const values = Object.entries({ ...row, tenant_id: tenantId }).map(([name, value]) => [
      name,
      isJson(value) ? owner.json(value as never) : value,
    ])
    await owner`insert into ${owner(tableOf[table] ?? table)} ${owner(Object.fromEntries(values))}`
  }
  return rows
}

const isJson = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !(value instanceof Date) &&
  !Buffer.isBuffer(value) &&
  !isTextArray(value)

/** In these rows an empty list is JSON, and any other list is a Postgres array. */
const isTextArray = (value: unknown): boolean => Array.isArray(value) && value.length > 0
