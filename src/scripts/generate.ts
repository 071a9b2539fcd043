/** Writes the generated files that are committed. With --check, only lists those out of date. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { openApiDocument } from '#edge/openapi/document'
import { createLog } from '#kernel/log'
import { startEmbedded } from '#postgres/start'
import { migrate } from '#store/engine/migrate'
import { dumpSchema } from './schema-dump.ts'

const root = join(import.meta.dir, '../..')

/** Applies the migrations to an empty embedded Postgres; ignores DATABASE_URL. */
async function schema(): Promise<string> {
  const log = createLog('warn')
  const home = await mkdtemp(join(tmpdir(), 'tendril-generate-'))
  try {
    await using database = await startEmbedded({ home, log, durable: false })
    await migrate(database.target, log)
    const sql = postgres({ ...database.target, max: 1, onnotice: () => {} })
    try {
      // The search path determines whether names are written with their schema.
      await sql`set search_path = ''`
      return await dumpSchema(sql)
    } finally {
      await sql.end()
    }
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

const files: Record<string, () => Promise<string>> = {
  'sql/schema.sql': schema,
  'openapi.json': async () => `${JSON.stringify(await openApiDocument(), null, 2)}\n`,
}

const check = process.argv.includes('--check')
const stale: string[] = []
for (const [name, make] of Object.entries(files)) {
  const path = join(root, name)
  const text = await make()
  const before = await readFile(path, 'utf8').catch(() => '')
  if (before === text) continue
  if (check) stale.push(name)
  else await writeFile(path, text)
}
if (stale.length > 0) {
  console.error(`out of date, run \`npm run generate\`: ${stale.join(', ')}`)
  process.exit(1)
}
