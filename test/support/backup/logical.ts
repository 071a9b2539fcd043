/** Logical backups of databases of tests, and what is compared of two databases. */
import postgres from 'postgres'
import { readConfig } from '#config/config'
import { createLog } from '#kernel/log'
import { createWorkspace } from '#ops/operator/admin/workspaces'
import { takeLogical } from '#server/backup/logical'
import { type ConnectionOptions, openDb } from '#store/engine/db'
import { dumpSchema } from '#store/engine/schema-dump'
import { TEST_SECRET } from '../database/db.ts'
import { dumpRows } from '../database/filled.ts'
import { writeRows } from '../database/rows.ts'
import { urlOf } from '../processes/server.ts'

/** A deployment on this database. */
export const placeOn = (options: ConnectionOptions, home: string, env = {}) => ({
  config: readConfig({
    TENDRIL_HOME: home,
    DATABASE_URL: urlOf(options),
    TENDRIL_SECRET_KEY: TEST_SECRET.toString('base64'),
    ...env,
  }),
  log: createLog('silent'),
})

export const takeRows = (options: ConnectionOptions, home: string, to: string, env = {}) =>
  takeLogical(placeOn(options, home, env), { to, passphrase: undefined, mbPerSecond: 1_000 })

/** `owner` must see all rows. */
export const withOwner = async <T>(
  options: ConnectionOptions,
  ask: (sql: postgres.Sql) => Promise<T>,
): Promise<T> => {
  const sql = postgres({ ...options, max: 1, onnotice: () => {} })
  try {
    return await ask(sql)
  } finally {
    await sql.end()
  }
}

const STRANGE = 'tab\tline\nbreak\r\\back\\. "quote" \u{1F4E6} \\N'

/** Two workspaces with a row in each table, and texts that the form of COPY must escape. */
export const fillTables = async (
  pools: ConnectionOptions,
  owner: ConnectionOptions = pools,
): Promise<void> => {
  await using db = openDb({ ...pools, max: 2 })
  const tenants = [await createWorkspace(db, 'First'), await createWorkspace(db, 'Second')]
  await withOwner(owner, async (sql) => {
    for (const tenant of tenants) await writeRows(sql, tenant)
    await sql`update product set name = ${STRANGE} where tenant_id = ${tenants[0]!}`
  })
}

interface Everything {
  schema: Record<string, string>
  rows: Awaited<ReturnType<typeof dumpRows>>
  sequences: readonly unknown[]
}

export const everythingIn = (options: ConnectionOptions): Promise<Everything> =>
  withOwner(options, async (sql) => ({
    schema: Object.fromEntries(await sql.begin((tx) => dumpSchema(tx))),
    rows: await dumpRows(sql),
    sequences: await sql`
      select schemaname, sequencename, last_value::text from pg_sequences order by 1, 2`,
  }))

/** The same in a database that was filled from the backup of that time. */
export const noted = (all: Everything, at: string): Everything => {
  const table = 'public.deployment'
  const rows = all.rows[table]!.map((row) => ({ ...row, identity: { restored: at } }))
  return { ...all, rows: { ...all.rows, [table]: rows } }
}
