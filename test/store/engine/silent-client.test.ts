/**
 * A server that falls silent in the middle of a transaction must not keep its locks: another is
 * waiting to serve the workspace.
 */
import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { newId } from '#kernel/ids'
import { openDb } from '#store/engine/db'
import { freshDb, testedVersion } from '#test/support/database/db'
import { startProxy } from '#test/support/database/proxy'
import { eventually } from '#test/support/eventually'
import { use } from '#test/support/use'

const database = use(freshDb)
/** The limit of transactions, and time for a busy machine. */
const PATIENCE_MS = 15_000

interface Session {
  state: string
  reads: boolean
}

test.skipIf(testedVersion() < 17)(
  'a server cut off between the description of a statement and its run loses its locks',
  async () => {
    const owner = postgres({
      ...database.options,
      max: 1,
      connection: { lock_timeout: PATIENCE_MS },
    })
    await using proxy = await startProxy(database.options)
    await using db = openDb({ ...proxy.options, max: 1 })
    const id = newId()
    await owner`insert into tenant (id, name, plan) values (${id}, 'Test', 'free')`
    let pid = 0
    let isCut = false
    const cut = db.letter(id, async (sql) => {
      const [row] = await sql<{
        pid: number
      }>`select pg_backend_pid() as pid, set_config('app.tenant', ${id}, true)`
      pid = row!.pid
      await sql`insert into counter (tenant_id, key, period, used) values (${id}, 'a', 'test', 1)`
      // A statement that this connection has not run before is described first.
      void proxy.stallAfterNext().then(() => {
        isCut = true
      })
      await sql`select used from counter where key = ${'a'} and period = ${'test'}`
    })
    cut.catch(() => {})
    await eventually(() => isCut, Boolean)
    await eventually(
      () =>
        owner<
          Session[]
        >`select state, wait_event = 'ClientRead' as reads from pg_stat_activity where pid = ${pid}`,
      // On a very busy machine it may be over before it is seen.
      ([session]) => session === undefined || (session.state === 'active' && session.reads),
    )
    const taken =
      await owner`insert into counter (tenant_id, key, period, used) values (${id}, 'a', 'test', 2)
        returning used`
    expect(taken[0]!.used).toBe(2)
    await expect(cut).rejects.toThrow('the database is not available')
    await proxy.open()
    await owner.end()
  },
  30_000,
)
