/**
 * Databases that the test files of a worker use one after the other, with the connections of their
 * servers. A server on a new database spends more on connections that know nothing yet, and on the
 * plans of its statements, than on all else that a test asks of it.
 */
import postgres from 'postgres'
import { type ConnectionOptions, withDeadline } from '#store/engine/db'
import { eventually } from '../eventually.ts'

/** How long a statement that a server left behind may take to end. */
const IDLE_WITHIN_MS = 2_000
/** A busy machine may take longer than a server waits: only our own progress is waited for. */
const CONNECTS_WITHIN_S = 30
/** Rows that were deleted take room, as nothing vacuums. */
const MOST_USES = 25
/** How many clients of a kind stay: as many as a server has for letters, or one of each pool. */
const MOST_KEPT = { letters: 6, pool: 1 }

interface Lent {
  sql: postgres.Sql
  onclose: ((connection: number) => void) | undefined
  isClosed: boolean
  /** Whether its holder has ended it. */
  isBack: boolean
  /** Whether a later test may have it. */
  isFree: boolean
}

/** Rejects whatever is asked of it, as a client does after its end. */
const ended = postgres({ max: 1 })
void ended.end()

const lend = (given: postgres.Options<Record<string, never>>): Lent => {
  const lent: Lent = {
    sql: postgres({
      ...given,
      connect_timeout: CONNECTS_WITHIN_S,
      idle_timeout: 0,
      max_lifetime: null,
      onclose: (connection) => {
        lent.isClosed = true
        lent.onclose?.(connection)
      },
    }),
    onclose: undefined,
    isClosed: false,
    isBack: false,
    isFree: false,
  }
  return lent
}

/** Whether it has answered in time. */
const answers = (asked: PromiseLike<unknown>, withinMs: number): Promise<boolean> =>
  withDeadline(asked, undefined, performance.now() + withinMs).then(
    () => true,
    () => false,
  )

/** What it asks goes to the same connection as all before it. */
const isSession = ({ sql }: Lent): boolean => sql.options.max === 1

/**
 * As after a real end, no transaction is open and nothing runs any more. Of a pool, the renewal of
 * the database finds out.
 */
const giveBack = async (lent: Lent, withinMs: number): Promise<void> => {
  lent.onclose = undefined
  lent.isBack = true
  if (lent.isClosed || !isSession(lent)) return
  if (await answers(lent.sql.unsafe('rollback'), withinMs)) return
  lent.isClosed = true
  await lent.sql.end({ timeout: 0 }).catch(() => {})
}

/**
 * A view of a client for one holder, which keeps nothing of it after the end. It is taken at the
 * first use: of ten sessions, a server uses two, and those must be the ones that know something.
 */
const viewOf = (take: () => Lent): postgres.Sql => {
  let lent: Lent | undefined
  let isOver = false
  const end = async ({ timeout = IDLE_WITHIN_MS / 1_000 } = {}): Promise<void> => {
    if (isOver) return
    isOver = true
    if (lent) await giveBack(lent, timeout * 1_000)
  }
  const now = (): postgres.Sql => {
    if (isOver) return ended
    lent ??= take()
    return lent.sql
  }
  return new Proxy(ended, {
    apply: (_, __, args: [TemplateStringsArray]) => Reflect.apply(now(), undefined, args),
    get: (_, name) => (name === 'end' ? end : Reflect.get(now(), name)),
  })
}

/** The clients of one database. */
export class WarmClients {
  readonly #all = new Map<string, Lent[]>()

  constructor(private readonly port: number | undefined) {}

  /** A client with these options: one that an earlier test has had, or else a new one. */
  readonly open = (given: postgres.Options<Record<string, never>>): postgres.Sql => {
    const { onclose, debug, ...options } = given
    // Through a proxy, or watched, it is of no use to others.
    if (debug || options.port !== this.port) return postgres(given)
    const key = JSON.stringify(options)
    return viewOf(() => {
      const same = this.#all.getOrInsertComputed(key, () => [])
      const free = same.find(({ isFree, isClosed }) => isFree && !isClosed)
      const lent = free ?? lend(options)
      if (!free) same.push(lent)
      lent.isBack = lent.isFree = false
      lent.onclose = onclose as Lent['onclose']
      return lent
    })
  }

  /** Frees for the next test what answers, and ends the rest. */
  async settle(): Promise<void> {
    for (const [key, some] of this.#all) {
      const back = some.filter(({ isBack, isClosed }) => isBack && !isClosed)
      const answered = await Promise.all(
        back.map(({ sql }) => answers(sql`select 1`, IDLE_WITHIN_MS)),
      )
      const living = back.filter((_, at) => answered[at])
      const kept = living.slice(0, MOST_KEPT[some.every(isSession) ? 'letters' : 'pool'])
      for (const lent of some) {
        lent.isFree = kept.includes(lent)
        if (!lent.isFree) void lent.sql.end({ timeout: 0 }).catch(() => {})
      }
      this.#all.set(key, kept)
    }
  }

  async end(): Promise<void> {
    const all = [...this.#all.values()].flat()
    this.#all.clear()
    await Promise.all(all.map(({ sql }) => sql.end({ timeout: 0 }).catch(() => {})))
  }
}

/** Whatever changes with a definition or an analysis, outside of temporary schemas. */
const SHAPE = `select md5(concat_ws(' ',
  (select string_agg(concat_ws(' ', c.oid, c.xmin), ',' order by c.oid) from pg_class c
    where c.relnamespace not in (select oid from pg_namespace where nspname like 'pg\\_%')),
  (select string_agg(concat_ws(' ', p.oid, p.xmin), ',' order by p.oid) from pg_proc p
    where p.pronamespace not in (select oid from pg_namespace where nspname like 'pg\\_%')),
  (select string_agg(concat_ws(' ', t.oid, t.xmin), ',' order by t.oid) from pg_trigger t),
  (select string_agg(concat_ws(' ', o.oid, o.xmin), ',' order by o.oid) from pg_policy o),
  (select string_agg(concat_ws(' ', n.oid, n.xmin), ',' order by n.oid) from pg_namespace n
    where n.nspname not like 'pg\\_%'),
  (select concat(count(*), max(a.xmin::text::bigint)) from pg_attribute a where a.attrelid > 16383),
  (select concat(count(*), max(s.xmin::text::bigint)) from pg_statistic s where s.starelid > 16383),
  (select concat(count(*), max(s.xmin::text::bigint)) from pg_db_role_setting s)))
  as shape`

/** Past every trigger and reference. Whoever holds a lock for long has the database dropped. */
const SETTINGS = {
  session_replication_role: 'replica',
  statement_timeout: 10_000,
  lock_timeout: 2_000,
}

/** What tests, and whatever they have forgotten to close, have opened themselves. */
const CUT = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()
    and application_name not in ('tendril', 'tendril-sandbox')`

const BUSY = `select count(*)::int as busy from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`

/** Deletes all rows. It lives in the session alone. */
const EMPTYING = `create function pg_temp.empty() returns void language plpgsql as $$
  declare one regclass;
  begin
    for one in select c.oid::regclass from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname !~ '^(pg_|information_schema)'
        and pg_relation_size(c.oid) > 0
    loop execute format('delete from %s', one); end loop;
    perform setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
      from pg_sequences where last_value is not null;
  end $$`

const FILLED = `select format('%I.%I', n.nspname, c.relname) as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and n.nspname !~ '^(pg_|information_schema)' and pg_relation_size(c.oid) > 0`

/** The rows that a new database has, by table. */
const rowsIn = async (sql: postgres.Sql): Promise<Map<string, string>> => {
  const tables = await sql.unsafe<{ name: string }[]>(FILLED)
  const rows = new Map<string, string>()
  for (const { name } of tables) {
    const [all] = await sql.unsafe(`select json_agg(t)::text as rows from ${name} t`)
    if (all!.rows !== null) rows.set(name, all!.rows)
  }
  return rows
}

/** A database that can be made new again. */
export class WarmDatabase {
  readonly clients: WarmClients
  readonly #sql: postgres.Sql
  #shape = ''
  #rows = new Map<string, string>()
  #uses = 0

  constructor(readonly options: ConnectionOptions) {
    this.clients = new WarmClients(options.port)
    this.#sql = postgres({
      ...options,
      max: 1,
      idle_timeout: 0,
      max_lifetime: null,
      fetch_types: false,
      onnotice: () => {},
      connection: SETTINGS as never,
    })
  }

  async #see(): Promise<string> {
    return (await this.#sql.unsafe<{ shape: string }[]>(SHAPE))[0]!.shape
  }

  /** Notes how it is, new. */
  async open(): Promise<void> {
    await this.#sql.unsafe(EMPTYING)
    this.#rows = await rowsIn(this.#sql)
    this.#shape = await this.#see()
  }

  async #isIdle(): Promise<boolean> {
    const busy = async () => (await this.#sql.unsafe<{ busy: number }[]>(BUSY))[0]!.busy
    return (await eventually(busy, (count) => count === 0, IDLE_WITHIN_MS)) === 0
  }

  /** Makes it as new. False if that cannot be, or if another would be cheaper. */
  async renew(): Promise<boolean> {
    if (++this.#uses >= MOST_USES || !(await this.#isIdle())) return false
    await this.clients.settle()
    await this.#sql.unsafe(CUT)
    if ((await this.#see()) !== this.#shape) return false
    await this.#sql.begin(async (sql) => {
      await sql`select pg_temp.empty()`
      for (const [name, rows] of this.#rows)
        await sql.unsafe(
          `insert into ${name} select * from json_populate_recordset(null::${name}, $1::text::json)`,
          [rows],
        )
    })
    return true
  }

  async close(): Promise<void> {
    await Promise.all([this.clients.end(), this.#sql.end({ timeout: 0 }).catch(() => {})])
  }
}
