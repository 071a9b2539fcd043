/** A deployment knows whether its database was copied, and begins held if it was. */
import { beforeEach, expect, test } from 'bun:test'
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import type { Config } from '#config/config'
import { createLog } from '#kernel/log'
import { adoptIdentity, showIdentity } from '#server/adopt'
import { hostIn } from '#server/database-url'
import { identityFile, settleIdentity } from '#server/identity'
import { restoredFile } from '#server/restored-file'
import { lockStanding, readStanding } from '#store/engine/hold'
import { sqlOf } from '#store/engine/sql'
import { freshDb } from '#test/support/database/db'
import { eventually } from '#test/support/eventually'
import { temporaryFolder } from '#test/support/folder'
import { use } from '#test/support/use'

const db = use(freshDb)
const temporary = use(temporaryFolder)
const at = (name: string): string => join(temporary.path, name)
const log = createLog('silent')

type Place = Pick<Config, 'databaseUrl' | 'home' | 'held'>
const homeAt = (name: string, held = false): Place => ({
  home: at(name),
  databaseUrl: undefined,
  held,
})
const atUrl = (host: string): Place => ({
  home: undefined,
  databaseUrl: `postgres://me:pass@word@${host}/tendril`,
  held: false,
})

const owner = <T>(ask: (sql: postgres.Sql) => Promise<T>): Promise<T> => {
  const sql = postgres({ ...db.options, max: 1, onnotice: () => {} })
  return ask(sql).finally(() => sql.end())
}
const standing = () => owner((sql) => readStanding(sqlOf(sql)))
/** Starts, and says why it is held. */
const started = async (place: Place): Promise<string | null> => {
  await settleIdentity(place as Config, db.options, log)
  return (await standing()).cause
}
const adopt = (place: Place, more: { moved?: boolean } = {}) =>
  adoptIdentity(place, db.options, {
    moved: false,
    removesObjects: false,
    endsSessions: false,
    confirmed: true,
    ...more,
  })
const copied = (from: string, to: string): void =>
  cpSync(at(from), at(to), { recursive: true, preserveTimestamps: true })

beforeEach(async () => {
  for (const name of ['a', 'other', 'copy', 'moved'])
    rmSync(at(name), { recursive: true, force: true })
  for (const name of ['a', 'other']) mkdirSync(at(name), { recursive: true })
  await owner(async (sql) => {
    await sql`insert into deployment (canary) values ('') on conflict do nothing`
    await sql`update deployment set identity = null`
    await sql`update hold set since = null, cause = null, as_of = null, identity = null,
      marked_before = '{}', restored = null, vouched = false, keeps_objects = false`
    await sql`delete from node`
  })
})

test('a home is known by its file, wherever it is moved to; a copy has another', async () => {
  expect(await started(homeAt('a'))).toBeNull()
  expect(await started(homeAt('a'))).toBeNull()
  copied('a', 'copy')
  renameSync(at('a'), at('moved'))
  expect(await started(homeAt('moved'))).toBeNull()
  expect(await started(homeAt('copy'))).toBe('copied')
  // As long as nobody adopts it.
  expect(await started(homeAt('copy'))).toBe('copied')
  expect((await standing()).keeps_objects).toBe(true)
  expect(await adopt(homeAt('copy'))).toMatchObject({ adopted: true })
  expect(await started(homeAt('copy'))).toBeNull()
  expect(await started(homeAt('moved'))).toBe('copied')
})

test('a home without its file is a copy', async () => {
  await started(homeAt('a'))
  rmSync(identityFile(at('a')))
  expect(await started(homeAt('a'))).toBe('copied')
})

test('a home that was restored says so, and cannot be called moved', async () => {
  await started(homeAt('other'))
  writeFileSync(restoredFile(at('a')), '{"backup_at":"2026-11-01T00:00:00Z"}')
  expect(await started(homeAt('a'))).toBe('restored')
  expect((await standing()).as_of).toEqual(new Date('2026-11-01T00:00:00Z'))
  expect(await adopt(homeAt('a'), { moved: true })).toBe('restored')
  expect(await adopt(homeAt('a'))).toMatchObject({ adopted: true })
  expect(await started(homeAt('a'))).toBeNull()
})

test('a start that is held names the flag for what was moved, unless it was restored', async () => {
  const said = async (place: Place): Promise<string> => {
    const lines: string[] = []
    const warn = (_: object, line: string) => lines.push(line)
    await settleIdentity(place as Config, db.options, { ...log, warn } as unknown as typeof log)
    return lines.join()
  }
  await started(homeAt('a'))
  expect(await said(homeAt('other'))).toContain('identity adopt", with --moved if')
  writeFileSync(restoredFile(at('a')), '{"backup_at":"2026-11-01T00:00:00Z"}')
  const restored = await said(homeAt('a'))
  expect(restored).toContain('identity adopt"')
  expect(restored).not.toContain('--moved')
})

test('a home that was restored in its old place is held, once for each restore', async () => {
  const restore = (backup_at: string) =>
    writeFileSync(restoredFile(at('a')), JSON.stringify({ backup_at }))
  expect(await started(homeAt('a'))).toBeNull()
  restore('2026-11-01T00:00:00Z')
  expect(await showIdentity(homeAt('a'), db.options)).toMatchObject({ fits: false, held: null })
  expect(await started(homeAt('a'))).toBe('restored')
  const { since } = await standing()
  expect(await started(homeAt('a'))).toBe('restored')
  expect((await standing()).since).toEqual(since)
  await adopt(homeAt('a'))
  // As if the command had been killed before it removed the note.
  restore('2026-11-01T00:00:00Z')
  expect(await started(homeAt('a'))).toBeNull()
  restore('2026-11-02T00:00:00Z')
  expect(await started(homeAt('a'))).toBe('restored')
})

test('what is copied while it is held is held anew, and stays restored if it was', async () => {
  writeFileSync(restoredFile(at('a')), '{"backup_at":"2026-11-01T00:00:00Z"}')
  await started(homeAt('a'))
  const { since } = await standing()
  expect(await started(homeAt('other'))).toBe('restored')
  const after = await standing()
  expect(after.since!.getTime()).toBeGreaterThan(since!.getTime())
  expect(after.as_of).toEqual(new Date('2026-11-01T00:00:00Z'))
})

test('a database that was filled from a backup is held, wherever it is', async () => {
  await owner(
    (sql) => sql`update deployment set identity = '{"restored": "2026-11-01T00:00:00.000Z"}'`,
  )
  expect(await started(atUrl('db-1'))).toBe('restored')
  expect((await standing()).as_of).toEqual(new Date('2026-11-01T00:00:00Z'))
  const { since } = await standing()
  expect(await started(atUrl('db-1'))).toBe('restored')
  expect((await standing()).since).toEqual(since)
  expect(await adopt(atUrl('db-1'), { moved: true })).toBe('restored')
  expect(await adopt(atUrl('db-1'))).toMatchObject({ adopted: true })
  expect(await started(atUrl('db-1'))).toBeNull()
})

test('one that was restored from a backup without an identity is held all the same', async () => {
  writeFileSync(restoredFile(at('a')), 'no JSON')
  expect(await started(homeAt('a'))).toBe('restored')
})

test('an operator can start any deployment held', async () => {
  await started(homeAt('a'))
  expect(await started(homeAt('a', true))).toBe('asked')
  expect((await standing()).keeps_objects).toBe(false)
  expect(await started(homeAt('a'))).toBe('asked')
  expect(await adopt(homeAt('a'))).toMatchObject({ adopted: true })
  expect(await adopt(homeAt('a'))).toMatchObject({ adopted: false, reason: 'not_held' })
})

test('a server that has begun while another waited for its turn is not overlooked', async () => {
  await started(homeAt('a'))
  const [first, second] = [1, 2].map(() => postgres({ ...db.options, max: 1 }))
  try {
    await first!`begin`
    await lockStanding(sqlOf(first!))
    const copy = started(homeAt('other'))
    const waits = () => first!`select from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`
    await eventually(waits, ({ length }) => length === 1)
    await second!`select pg_advisory_lock(7)`
    await second!`insert into node (incarnation, lock_key, url, expires_at)
      values (gen_random_uuid(), 7, 'http://10.0.0.9:7070', now() + interval '4 seconds')`
    await first!`commit`
    await expect(copy).rejects.toThrow('http://10.0.0.9:7070 serves it')
    expect((await standing()).since).toBeNull()
  } finally {
    await Promise.all([first, second].map((sql) => sql!.end()))
  }
})

test('without --yes, adopting says what would follow and changes nothing', async () => {
  await started(homeAt('a'))
  copied('a', 'copy')
  const asked = { moved: false, removesObjects: false, endsSessions: false, confirmed: false }
  // No server has run on the copy yet, so this is the first to notice.
  expect(await adoptIdentity(homeAt('copy'), db.options, asked)).toMatchObject({ adopted: false })
  expect(await showIdentity(homeAt('copy'), db.options)).toMatchObject({
    fits: false,
    held: { cause: 'copied' },
  })
})

test('objects stay in S3 until an operator says that nobody else needs them', async () => {
  await started(homeAt('a'))
  copied('a', 'copy')
  await started(homeAt('copy'))
  await adopt(homeAt('copy'))
  expect((await standing()).keeps_objects).toBe(true)
  await started(homeAt('copy', true))
  const wanted = { moved: true, removesObjects: true, endsSessions: true, confirmed: true }
  await adoptIdentity(homeAt('copy'), db.options, wanted)
  expect((await standing()).keeps_objects).toBe(false)
})

test('that can also be said once the hold is over', async () => {
  await started(homeAt('a'))
  copied('a', 'copy')
  await started(homeAt('copy'))
  await adopt(homeAt('copy'))
  const later = (confirmed: boolean) =>
    adoptIdentity(homeAt('copy'), db.options, {
      moved: false,
      removesObjects: true,
      endsSessions: false,
      confirmed,
    })
  expect(await later(false)).toMatchObject({
    adopted: false,
    next: 'run it again with --yes',
    keeps_objects: true,
  })
  expect((await standing()).keeps_objects).toBe(true)
  const over = { adopted: false, reason: 'not_held', keeps_objects: false }
  expect(await later(true)).toMatchObject(over)
  expect((await standing()).keeps_objects).toBe(false)
  expect(await later(true)).toMatchObject(over)
})

test('a database is known by its cluster, its oid and the host in the URL', async () => {
  expect(await started(atUrl('db-1:5432'))).toBeNull()
  expect(await started(atUrl('db-1:5432'))).toBeNull()
  expect(await started(atUrl('db-3'))).toBe('copied')
  // Another server of the same copy.
  expect(await started(atUrl('db-3'))).toBe('copied')
})

test('the host is taken as it is written', () => {
  expect(hostIn('postgres://me:p@ss@a:1/db')).toBe('a:1')
  expect(hostIn('postgresql:///db?sslmode=require&host=/socket')).toBe('/socket')
})
