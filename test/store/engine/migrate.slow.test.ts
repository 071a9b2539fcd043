/** When a database is brought up to this version, and when it is left as it is. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { createLog } from '#kernel/log'
import { type Db, openDb } from '#store/engine/db'
import { migrate } from '#store/engine/migrate'
import { type Migration, shippedMigrations } from '#store/engine/migrations'
import { type HeldLock, holdLock, NODE_LEASE_MS, register, renew } from '#store/engine/nodes'
import { leave } from '#store/engine/placement'
import { emptyDb, freshDb, type TestDatabase } from '#test/support/database/db'

const LAST = 'sql/999999-later.sql'
const shipped = shippedMigrations()
/** Of a later version. */
const later: Migration[] = [...shipped, { name: LAST, text: 'create table later ()' }]
const namesOf = (migrations: Migration[]): string[] => migrations.map(({ name }) => name)

const silent = createLog('silent')

let database: TestDatabase
let owner: postgres.Sql
let stack: AsyncDisposableStack
beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(() => stack.disposeAsync())

const use = async (made: Promise<TestDatabase>): Promise<void> => {
  database = stack.use(await made)
  owner = postgres({ ...database.options, max: 1, onnotice: () => {} })
  stack.defer(() => owner.end({ timeout: 1 }))
}

const applied = async (): Promise<string[]> =>
  (await owner`select name from migration order by name`).map(({ name }) => name)
const bringUp = (migrations = later) => migrate(database.options, silent, migrations)

const URL_OF_NODE = 'http://10.1.2.3:7070'

/** A process of the earlier version: its place, and its lock. */
const node = async (): Promise<{ db: Db; lock: HeldLock; incarnation: string }> => {
  const db = stack.use(openDb({ ...database.options, max: 1 }))
  const lock = stack.use(await holdLock(database.options, () => {}))
  const incarnation = randomUUID()
  await register(db, { incarnation, lockKey: lock.key, url: URL_OF_NODE })
  return { db, lock, incarnation }
}

describe('a database of an earlier version', () => {
  beforeEach(() => use(freshDb()))

  test('is migrated when nobody runs on it', async () => {
    await bringUp()
    expect(await applied()).toEqual(namesOf(later))
  })

  test('is not migrated while another node lives; the refusal names it', async () => {
    const { db, incarnation } = await node()
    const beating = setInterval(() => void renew(db, incarnation), 500)
    try {
      await expect(bringUp()).rejects.toThrow(
        `node ${incarnation} at ${URL_OF_NODE} still uses it; stop every server of the earlier version first`,
      )
      expect(await applied()).not.toContain(LAST)
    } finally {
      clearInterval(beating)
    }
    await leave(db, incarnation)
    await bringUp()
    expect(await applied()).toContain(LAST)
  })

  test('is not migrated while a node hangs that may go on; the refusal names its session', async () => {
    const { incarnation } = await node()
    await owner`update node set expires_at = clock_timestamp() - interval '1 minute'`
    const refusal = await bringUp().catch((cause) => cause.message)
    expect(refusal).toContain(`node ${incarnation} at ${URL_OF_NODE}`)
    const [, backend] = /pg_terminate_backend\((\d+)\)/.exec(refusal)!
    expect(await owner`select pg_terminate_backend(${backend!}) from node`).toHaveLength(1)
    await bringUp()
    expect(await applied()).toContain(LAST)
  })

  test('is migrated as soon as the lease of a killed node has ended', async () => {
    const { lock } = await node()
    await lock[Symbol.asyncDispose]()
    await bringUp()
    expect(await applied()).toContain(LAST)
    expect(await owner`select 1 from node where expires_at > clock_timestamp()`).toHaveLength(0)
  })

  test('is migrated when the clock has stepped back from the lease of a killed node', async () => {
    const { lock } = await node()
    await owner`update node set expires_at = clock_timestamp() + ${2 * NODE_LEASE_MS} * interval
      '1 millisecond' + interval '1 day'`
    await lock[Symbol.asyncDispose]()
    await bringUp()
    expect(await applied()).toContain(LAST)
  })

  test('is migrated once by servers that start together', async () => {
    await Promise.all([bringUp(), bringUp(), bringUp()])
    expect(await applied()).toEqual(namesOf(later))
  })
})

test('an empty database is migrated once by servers that start together', async () => {
  await use(emptyDb())
  await Promise.all([bringUp(), bringUp()])
  expect(await applied()).toEqual(namesOf(later))
})

test('a database of this version is left as it is, whoever runs on it', async () => {
  await use(freshDb())
  await node()
  await bringUp(shipped)
  expect(await applied()).toEqual(namesOf(shipped))
})

test('a database of a later version is refused, and one whose migration was edited', async () => {
  await use(freshDb())
  await bringUp()
  await expect(bringUp(shipped)).rejects.toThrow(
    `the database is newer than this program: it has ${LAST}`,
  )
  const edited = [...shipped, { name: LAST, text: 'create table another ()' }]
  await expect(bringUp(edited)).rejects.toThrow(
    `migration ${LAST} was changed after it was applied to this database`,
  )
})
