/** Who makes and migrates the schema: servers, once the secret fits. */

import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { readConfig } from '#config/config'
import { newApiKey } from '#kernel/api-key'
import { createLog } from '#kernel/log'
import { secretKeyOf } from '#kernel/secret'
import { joinDatabase, openDatabase } from '#server/database'
import { checkCanary } from '#store/engine/canary'
import type { ConnectionOptions } from '#store/engine/db'
import { shippedMigrations } from '#store/engine/migrations'
import { emptyDb, freshDb, TEST_SECRET, type TestDatabase } from '#test/support/database/db'
import { beforeBaseline, earlierDb } from '#test/support/database/migrations'
import { runAdmin, urlOf } from '#test/support/processes/server'
import { use } from '#test/support/use'

const migrations = shippedMigrations().map(({ name }) => name)
const earlier = beforeBaseline.map(({ name }) => name)
const numberOf = (name: string): string => /\d{6}/.exec(name)![0]

const applied = async (options: ConnectionOptions): Promise<string[]> => {
  const sql = postgres({ ...options, max: 1, onnotice: () => {} })
  try {
    const [found] = await sql`select to_regclass('migration') is not null as made`
    if (!found!.made) return []
    return (await sql`select name from migration order by name`).map(({ name }) => name)
  } finally {
    await sql.end()
  }
}

const configOf = (options: ConnectionOptions, secret: Buffer) =>
  readConfig({ DATABASE_URL: urlOf(options), TENDRIL_SECRET_KEY: secret.toString('base64') })

const adminWith = (options: ConnectionOptions, secret: Buffer, ...args: string[]) =>
  runAdmin({ key: newApiKey(), database: options, secret: secret.toString('base64') }, ...args)

const databaseOfBefore = async (): Promise<TestDatabase> => {
  const database = await earlierDb()
  await checkCanary(database.options, [secretKeyOf(TEST_SECRET)])
  return database
}

describe('a database of an earlier version', () => {
  const database = use(databaseOfBefore)

  test.each([
    ['a command', joinDatabase],
    ['a server', openDatabase],
  ])('is left as it is by %s with another secret', async (_, enter) => {
    const config = configOf(database.options, randomBytes(32))
    await expect(enter(config, createLog('silent'))).rejects.toThrow(
      'TENDRIL_SECRET_KEY is not the secret key of this database',
    )
    expect(await applied(database.options)).toEqual(earlier)
  })

  test('is left as it is by a command, which says the versions', async () => {
    const { code, err } = await adminWith(database.options, TEST_SECRET, 'tenant', 'list')
    const [from, to] = [numberOf(earlier.at(-1)!), numberOf(migrations.at(-1)!)]
    const versions = `the database has version ${from}, and this program needs version ${to}`
    expect(err).toBe(
      `tendril admin: ${versions}: start the server of this program, which migrates it\n`,
    )
    expect(code).not.toBe(0)
    expect(await applied(database.options)).toEqual(earlier)
  })

  test('is described by `admin version`, with the migrations that the next start runs', async () => {
    const shown = (await adminWith(database.options, randomBytes(32), 'version')).json
    expect(shown).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      commit: null,
      schema: numberOf(migrations.at(-1)!),
      database_schema: numberOf(earlier.at(-1)!),
      migrations,
      refusal: null,
    })
    expect(await applied(database.options)).toEqual(earlier)
  })

  test('is migrated by a server, which says from which version to which', async () => {
    await using database = await databaseOfBefore()
    const lines: string[] = []
    const log = createLog('info', { write: (line: string) => void lines.push(line) })
    await using _ = await openDatabase(configOf(database.options, TEST_SECRET), log)
    expect(await applied(database.options)).toEqual(migrations)
    const said = lines.map((line) => JSON.parse(line)).filter(({ msg }) => /^migrat/.test(msg))
    const [from, to] = [numberOf(earlier.at(-1)!), numberOf(migrations.at(-1)!)]
    expect(said).toMatchObject([
      { msg: 'migrating the database', from, to },
      ...migrations.map((migration) => ({ msg: 'migrated', migration })),
    ])
  })
})

describe('an empty database', () => {
  test('gets its schema by `tenant create`, and by no other command', async () => {
    await using database = await emptyDb()
    const refused = await adminWith(database.options, TEST_SECRET, 'tenant', 'list')
    expect(refused.err).toContain('the database is empty: start the server, or create a workspace')
    expect(await applied(database.options)).toEqual([])
    const made = await adminWith(database.options, TEST_SECRET, 'tenant', 'create', '--name', 'A')
    expect(made.json.workspace_id).toBeString()
    expect(await applied(database.options)).toEqual(migrations)
  })
})

test('a database of this version opens for commands', async () => {
  await using database = await freshDb()
  await checkCanary(database.options, [secretKeyOf(TEST_SECRET)])
  const { code } = await adminWith(database.options, TEST_SECRET, 'tenant', 'list')
  expect(code).toBe(0)
})
