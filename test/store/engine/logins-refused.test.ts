/** Databases where the address's role cannot make logins, or that admit no other role. */
import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId, randomBase62 } from '#kernel/ids'
import { dataOf } from '#postgres/cluster'
import { type ConnectionOptions, openDb, poolRoles, type Sql } from '#store/engine/db'
import { assertIsolation } from '#store/engine/isolation'
import { migrate } from '#store/engine/migrate'
import { type TestDatabase, unusedDb } from '#test/support/database/db'
import { managedDb } from '#test/support/database/managed'
import { asking, entered, listening, secret, silent } from './logins.ts'

describe("when the address's role cannot make logins", () => {
  interface Limited extends AsyncDisposable {
    database: TestDatabase
    limited: ConnectionOptions
  }

  const newPlace = async (): Promise<Limited> => {
    await using stack = new AsyncDisposableStack()
    const database = stack.use(await unusedDb())
    const limited = {
      ...database.options,
      username: `tendril_limited_${randomBase62(8).toLowerCase()}`,
      password: 'limited',
    }
    const run = (statements: string) => asking(database.options, (sql) => sql.unsafe(statements))
    await run(`create role ${limited.username} login password 'limited'; grant ${poolRoles.join(', ')} to ${limited.username};
      grant select, insert on deployment to ${limited.username}`)
    stack.defer(
      async () =>
        void (await run(`drop owned by ${limited.username}; drop role ${limited.username}`)),
    )
    const owned = stack.move()
    return { database, limited, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  test('the pools take their roles by the startup parameter, and the start logs it once', async () => {
    await using place = await newPlace()
    const { log, lines } = listening()
    const options = await entered(place.limited, secret, log)
    expect(options).toEqual(place.limited)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(
      'grant its role CREATEROLE, and tendril_app, tendril_system, tendril_sandbox with admin option',
    )
    await using db = openDb({ ...options, max: 1 })
    await assertIsolation(db, options.logins)
    const whoAmI = (sql: Sql) => sql<{ role: string }>`select current_user::text as role`
    expect(await db.read({ tenantId: newId() }, whoAmI)).toEqual([{ role: 'tendril_app' }])
  })

  test('existing logins are used', async () => {
    await using place = await newPlace()
    const { logins } = await entered(place.database.options)
    const { log, lines } = listening()
    expect(await entered(place.limited, secret, log)).toEqual({ ...place.limited, logins: logins! })
    expect(lines).toEqual([])
  })
})

test('if the database admits no other role, the start names the roles to admit', async () => {
  await using place = await managedDb()
  await migrate(place.options, silent)
  const path = join(dataOf(place.home), 'pg_hba.conf')
  writeFileSync(path, `local all +tendril_app reject\n${readFileSync(path, 'utf8')}`)
  await asking(place.root, (sql) => sql`select pg_reload_conf()`)
  const { log, lines } = listening()
  // Those who may take on the role are members of it, too; the superuser is not.
  const options = await entered(place.root, secret, log)
  expect(options).toEqual(place.root)
  expect(lines.join()).toMatch(
    /let tendril_app_\d+_[0-9a-f]{12}_[0-9a-f]{8}, .* log in with passwords \(pg_hba.conf\)/,
  )
})
