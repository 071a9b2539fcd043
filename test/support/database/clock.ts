/**
 * A database whose clock a test sets. Its own `clock_timestamp()` and `now()` take precedence over
 * those of Postgres, in every session and every column default, because they existed when the
 * schema was made. The machine's clock stays as it is.
 */
import postgres from 'postgres'
import { createLog } from '#kernel/log'
import type { ConnectionOptions } from '#store/engine/db'
import { migrate } from '#store/engine/migrate'
import { copyOf, emptyDb, type TestDatabase } from './db.ts'

/** Times are epoch milliseconds. `real` is Postgres's own clock, which never steps. */
export interface DatabaseClock {
  step(ms: number): Promise<void>
  /**
   * As if `ms` had passed and live processes had renewed their leases. After `step` those leases
   * may have ended.
   */
  pass(ms: number): Promise<void>
  set(time: Date): Promise<void>
  now(): Promise<number>
  /**
   * How far the database's clock has been ahead of the real one since `real`; the first entry holds
   * from the beginning.
   */
  readonly history: { real: number; ahead: number }[]
}

export interface SteppedDatabase extends TestDatabase {
  clock: DatabaseClock
}

type Settings = Record<string, string>

const connect = (database: ConnectionOptions) =>
  postgres({ ...database, max: 1, onnotice: () => {} })

/** A copy of a database has the functions, but none of these. */
const configure = async (
  sql: postgres.Sql,
  { database, settings }: { database: string; settings: Settings },
): Promise<void> => {
  for (const [name, value] of Object.entries({
    ...settings,
    search_path: 'public, stepped, pg_catalog',
  }))
    await sql.unsafe(`alter database "${database}" set ${name} = ${value}`)
}

/**
 * The functions are stable, so a statement sees the same step throughout: an hour never passes in
 * the middle of it.
 */
const install = (sql: postgres.Sql) =>
  sql.unsafe(`
    create schema stepped;
    create table stepped.clock (ahead float8 not null);
    insert into stepped.clock values (0);
    create function stepped.clock_timestamp() returns timestamptz language sql stable as
      'select pg_catalog.clock_timestamp() + (select ahead from stepped.clock) * interval ''1 ms''';
    create function stepped.now() returns timestamptz language sql stable as
      'select pg_catalog.now() + (select ahead from stepped.clock) * interval ''1 ms''';
    grant usage on schema stepped to public;
    grant select on stepped.clock to public`)

/** Runs something on its own connection. */
const connected = async (
  options: ConnectionOptions,
  run: (sql: postgres.Sql) => Promise<unknown>,
): Promise<void> => {
  const sql = connect(options)
  try {
    await run(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

const templates = new Map<string, Promise<ConnectionOptions>>()

/**
 * The database to copy, made by the migrations under these settings. It is dropped with the run's
 * template.
 */
const templateOf = (settings: Settings): Promise<ConnectionOptions> =>
  templates.getOrInsertComputed(JSON.stringify(settings), async () => {
    const { options } = await emptyDb()
    await connected(options, async (sql) => {
      await install(sql)
      await configure(sql, { database: options.database!, settings })
    })
    await migrate(options, createLog('silent'))
    return options
  })

const clockOn = (sql: postgres.Sql): DatabaseClock => {
  const history = [{ real: 0, ahead: 0 }]
  const msOf = async (clock: string): Promise<number> => {
    const [row] = await sql.unsafe<{ ms: number }[]>(
      `select (extract(epoch from ${clock}.clock_timestamp()) * 1000)::float8 as ms`,
    )
    return row!.ms
  }
  const step = async (ms: number, nodes: 'expire' | 'live' = 'expire'): Promise<void> => {
    const before = await msOf('pg_catalog')
    const renewed = nodes === 'live' ? ms : 0
    const [row] = await sql<{ ahead: number }[]>`
      with renewed as (update node set expires_at = expires_at + ${renewed} * interval '1 ms')
      update stepped.clock set ahead = ahead + ${ms} returning ahead`
    // Other sessions see the step somewhere between the two reads. A time counts from the earliest
    // moment at which one may have seen it.
    history.push({ real: ms > 0 ? before : await msOf('pg_catalog'), ahead: row!.ahead })
  }
  return {
    history,
    step: (ms) => step(ms),
    pass: (ms) => step(ms, 'live'),
    now: () => msOf('stepped'),
    set: async (time) => step(time.getTime() - (await msOf('stepped'))),
  }
}

/**
 * With the schema and no rows. `settings` are those of the database, such as
 * `{ timezone: "'Asia/Tokyo'" }`.
 */
export async function steppedDb(settings: Settings = {}): Promise<SteppedDatabase> {
  await using stack = new AsyncDisposableStack()
  const { options } = stack.use(await copyOf(await templateOf(settings)))
  await connected(options, (sql) => configure(sql, { database: options.database!, settings }))
  const sql = connect(options)
  stack.defer(() => sql.end({ timeout: 1 }))
  const owned = stack.move()
  return { options, clock: clockOn(sql), [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
