/** The migrations that ship with the program. */
import { listAssets, readText } from '#kernel/assets'
import type { Db } from './db.ts'

export interface Migration {
  /** `sql/000124-baseline`, or the path of a later file. */
  name: string
  text: string
}

/** The folder with the schema of the first version whose databases later ones migrate. */
export const BASELINE = 'sql/000124-baseline'

const LATER = /^sql\/\d{6}-.*\.sql$/

/** In the order in which they are applied. */
export const shippedMigrations = (): Migration[] => {
  const parts = listAssets(BASELINE)
  if (parts.length === 0) throw new Error('this program contains no migrations')
  return [
    { name: BASELINE, text: parts.map(readText).join('\n') },
    ...listAssets('sql')
      .filter((path) => LATER.test(path))
      .map((name) => ({ name, text: readText(name) })),
  ]
}

/** The number of the last of these migrations: `000124`. */
export const versionOf = (names: string[]): string =>
  /\d{6}/.exec(names.toSorted().at(-1) ?? '')?.[0] ?? 'none'

/** The names alone, read once: the texts are files. */
let shipped: Set<string> | undefined

/** Whether the database has exactly these migrations, for a server that is running. */
export const isMigrated = async (db: Db): Promise<boolean> => {
  shipped ??= new Set(shippedMigrations().map(({ name }) => name))
  const rows = await db.system(
    (sql) => sql<{ name: string }>`select name from applied_migrations() name`,
  )
  const { size } = shipped
  return rows.length === size && rows.every(({ name }) => shipped!.has(name))
}
