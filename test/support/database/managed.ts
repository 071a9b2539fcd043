/** A database as a managed service gives it: its owner can create roles but is not a superuser. */
import postgres from 'postgres'
import { createLog } from '#kernel/log'
import { startEmbedded } from '#postgres/start'
import type { ConnectionOptions } from '#store/engine/db'
import { temporaryFolder } from '../folder.ts'
import type { TestDatabase } from './db.ts'

export interface ManagedDatabase extends TestDatabase {
  /** The same database for the superuser of its cluster. */
  root: ConnectionOptions
  /** The home of the cluster, which has no other databases. */
  home: string
}

/** Empty, on a cluster of its own with no other roles than its owner's. */
export async function managedDb(): Promise<ManagedDatabase> {
  await using stack = new AsyncDisposableStack()
  const home = stack.use(await temporaryFolder())
  const { target } = stack.use(
    await startEmbedded({ home: home.path, log: createLog('silent'), durable: false }),
  )
  const sql = postgres({ ...target, max: 1, onnotice: () => {} })
  await sql`create role plain login createrole password 'plain'`
  await sql`create database managed owner plain`
  await sql.end()
  const root = { ...target, database: 'managed' }
  const owned = stack.move()
  return {
    options: { ...root, username: 'plain', password: 'plain' },
    root,
    home: home.path,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
