/** What a restore takes from the lists of a backup, and what it does if the database fails. */
import { expect, test } from 'bun:test'
import { secretKeyOf } from '#kernel/secret'
import { beginLoading } from '#store/backup/loading'
import { beginOnlineBackup } from '#store/backup/online'
import { lookAtBackend } from '#store/backup/session'
import { openSnapshot } from '#store/backup/snapshot'
import type { BackupTable } from '#store/backup/tables'
import { shippedMigrations } from '#store/engine/migrations'
import { withOwner } from '#test/support/backup/logical'
import { emptyDb, freshDb, TEST_SECRET } from '#test/support/database/db'
import { eventually } from '#test/support/eventually'
import { use } from '#test/support/use'

const [target, source] = [use(emptyDb), use(freshDb)]
const migrations = shippedMigrations().map(({ name }) => name)
const begin = () => beginLoading(target.options, migrations)

const DEPLOYMENT: BackupTable = {
  name: 'public.deployment',
  columns: ['single', 'canary', 'id', 'retention', 'identity'],
}
const ROW = 't\t\\\\x01\t6f0c4d1e-0000-4000-8000-000000000000\t\\N\t\\N\n'

async function* of(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

/** Ends the sessions of backups, as a database does that stops. Returns when they are gone. */
const endSessions = (options: object) =>
  withOwner(options, async (sql) => {
    const ours = sql`application_name = 'tendril-backup' and datname = current_database()`
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where ${ours}`
    await eventually(
      () => sql`select from pg_stat_activity where ${ours}`,
      (left) => left.length === 0,
    )
  })

test('only tables and columns that the database has become part of a statement', async () => {
  await using loading = await begin()
  const { name, columns } = DEPLOYMENT
  const program = `public.deployment (single) from program 'touch /tmp/pwned' --`
  const refused: [BackupTable, string][] = [
    [{ name: program, columns }, 'is not a table of Tendril'],
    [{ name: 'pg_catalog.pg_authid', columns: ['rolname'] }, 'is not a table of Tendril'],
    [{ name: 'public.migration', columns: ['name'] }, 'is not a table of Tendril'],
    [{ name, columns: [...columns.slice(1), `single) from program 'x' --`] }, 'a strange column'],
    [{ name, columns: columns.slice(1) }, 'must have each column of the table once'],
    [{ name, columns: [...columns, 'id'] }, 'must have each column of the table once'],
    [{ name, columns: [...columns.slice(1), 'id'] }, 'must have each column of the table once'],
  ]
  for (const [table, reason] of refused) expect(() => loading.expect([table])).toThrow(reason)
  await expect(loading.rows(program, of(ROW))).rejects.toThrow('is not in its list of tables')
  loading.expect([{ name, columns: columns.map((column) => `"${column}"`) }])
  await loading.rows(name, of(ROW))
  const sequences = [{ name: 'pg_catalog.pg_class', value: '1', called: true }]
  await expect(loading.commit(new Map([[name, 1]]), sequences)).rejects.toThrow(
    'is not a sequence of Tendril',
  )
})

test('a row that the database refuses ends the restore with its reason, also the last one', async () => {
  for (const rows of [
    [ROW, ROW],
    [ROW.repeat(100_000), ROW],
  ]) {
    await using loading = await begin()
    loading.expect([DEPLOYMENT])
    const load = async () => {
      await loading.rows(DEPLOYMENT.name, of(...rows))
      await loading.commit(new Map(), [])
    }
    await expect(load()).rejects.toThrow(/deployment_pkey/)
  }
})

test('a restore whose session the database has ended commits nothing by another one', async () => {
  await using loading = await begin()
  loading.expect([DEPLOYMENT])
  await loading.rows(DEPLOYMENT.name, of(ROW))
  await endSessions(target.options)
  await expect(loading.commit(new Map(), [])).rejects.toThrow()
  await expect(loading.commit(new Map(), [])).rejects.toThrow(/CONNECTION_(DESTROYED|ENDED)/)
})

test('a backup whose session the database has ended reads nothing without its snapshot', async () => {
  await using snapshot = (await openSnapshot(source.options))!
  expect(await snapshot.count(DEPLOYMENT)).toBe(1)
  await endSessions(source.options)
  await expect(snapshot.count(DEPLOYMENT)).rejects.toThrow()
  await expect(snapshot.sequences()).rejects.toThrow(/CONNECTION_(DESTROYED|ENDED)/)
})

test('a backup of rows and one of files are not made at once', async () => {
  await using _ = (await openSnapshot(source.options))!
  expect(await beginOnlineBackup(source.options)).toBeUndefined()
})

test('a snapshot says which keys it needs, whatever the rotation has come to since', async () => {
  await using rotated = await freshDb()
  const [key, old] = [secretKeyOf(TEST_SECRET), secretKeyOf(Buffer.alloc(32, 'old'))]
  await withOwner(rotated.options, async (sql) => {
    await sql`insert into secret_key (fingerprint, state)
      values (${key.fingerprint}, 'new'), (${old.fingerprint}, 'old')`
    await using snapshot = (await openSnapshot(rotated.options))!
    await sql`update secret_key set state = 'dropped' where state = 'old'`
    await sql`update secret_key set settled_at = now(), sealed_at = now() where state = 'new'`
    const needed = await snapshot.keys([old, key])
    expect([needed.newest, needed.old]).toEqual([key, old])
    await expect(snapshot.keys([key])).rejects.toThrow(`${old.fingerprint} is missing here`)
  })
})

test('a session is gone once its server says so, and not while it only refuses others', async () => {
  const { options } = source
  await withOwner(options, async (sql) => {
    const [own] = await sql<{ pid: number; started: string }[]>`select pg_backend_pid() as pid,
      extract(epoch from pg_postmaster_start_time())::text as started`
    const look = (change: object, of = own!) => lookAtBackend({ ...options, ...change }, of)
    expect(await look({})).toBe('there')
    expect(await look({}, { ...own!, pid: 0 })).toBe('gone')
    expect(await look({}, { ...own!, started: '1.5' })).toBe('unknown')
    expect(await look({ database: 'there is none' })).toBe('unknown')
    expect(await look({ host: '127.0.0.1', port: 9 })).toBe('unknown')
    for (const [code, sight] of [
      ['53300', 'there'],
      ['57P03', 'unknown'],
    ] as const) {
      using refusing = refusingServer(code)
      expect([code, await look({ host: '127.0.0.1', port: refusing.port })]).toEqual([code, sight])
    }
  })
})

/** Answers every connection as a database does that refuses it. */
const refusingServer = (code: string): { port: number } & Disposable => {
  const fields = ['SFATAL', 'VFATAL', `C${code}`, 'Mrefused', ''].map((field) => `${field}\0`)
  const body = Buffer.from(fields.join(''))
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(body.length + 4, 1)
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: (socket) => void socket.end(Buffer.concat([head, body])) },
  })
  return { port: server.port, [Symbol.dispose]: () => server.stop(true) }
}
