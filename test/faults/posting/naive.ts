/** The same load, network and kills for a publisher that sends again when its lease has expired. */
import postgres from 'postgres'
import { newId } from '#kernel/ids'
import { freshDb } from '#test/support/database/db'
import { ownEnv } from '#test/support/processes/own-env'
import { spreadOver, startKilling } from '../killing.ts'
import { countIn, untilNoneIsLeft, type Verdict, verdictOnNaive } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { faultsOf, type PostingOptions } from './options.ts'
import { doubledTexts, SANDBOX_POSTS } from './verdict.ts'

const SETTLES_WITHIN_MS = 120_000

/** Where it posts, and how a harness looks into it. */
export interface NaiveNetwork {
  /**
   * If fewer items than this share are posted twice, the harness would not notice a faulty
   * publisher.
   */
  mustDouble: number
  /** The table that shows what was posted. */
  posts: string
  /** Of the worker that is started as the nth. */
  env(nth: number): Record<string, string>
  /** The ids of new accounts with these handles. */
  accounts(owner: postgres.Sql, handles: string[]): Promise<string[]>
  /** Fills the table of posts, if it is not the network's own. */
  gather?(owner: postgres.Sql): Promise<void>
}

const naiveSandbox = (options: Pick<PostingOptions, 'seed' | 'faults'>): NaiveNetwork => ({
  mustDouble: 0.2,
  posts: SANDBOX_POSTS,
  env: (nth) => ({ SANDBOX_FAULTS: faultsOf(options, nth) }),
  async accounts(owner, handles) {
    const rows = await owner<
      { id: string }[]
    >`insert into sandbox.accounts (handle) select unnest(${handles}::text[]) returning id`
    return rows.map(({ id }) => id)
  },
})

const startWorker = async (database: object, env: Record<string, string>) => {
  const child = Bun.spawn(
    [process.execPath, '--no-orphans', 'test/faults/posting/naive-worker.ts'],
    {
      env: ownEnv({ NAIVE_DATABASE: JSON.stringify(database), ...env }),
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  return {
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

const newQueue = async (owner: postgres.Sql): Promise<void> => {
  await owner`create schema naive`
  await owner`create table naive.item (id uuid primary key, account_id text not null,
    body text not null, lease_until timestamptz, due_at timestamptz not null default now(),
    posted boolean not null default false)`
}

const DUE_IN_MS = 300
const AROUND_MS = 50

/**
 * Replaces the text of an item that is not marked as posted; gives the text that must not go out
 * any more.
 */
const editWhenDue = async (
  owner: postgres.Sql,
  { id, afterMs }: { id: string; afterMs: number },
): Promise<string[]> => {
  await Bun.sleep(afterMs)
  const rows = await owner`update naive.item set body = body || ', written anew' where id = ${id}
      and not posted returning id`
  return rows.map(() => `Draft ${id}`)
}

const leftOver = (owner: postgres.Sql): Promise<number> =>
  countIn(owner`select ((select count(*) from naive.item where not posted) + (select count(*)
    from sandbox.delayed))::int as n`)

/** Broken if too few of the items are on the network more than once. */
export async function runNaive(
  options: PostingOptions,
  network: NaiveNetwork = naiveSandbox(options),
): Promise<Verdict> {
  const { items, kills, edits, workspaces, seed } = options
  await using stack = new AsyncDisposableStack()
  const { options: database } = stack.use(await freshDb())
  const owner = postgres({ ...database, max: 1, onnotice: () => {} })
  stack.defer(() => owner.end({ timeout: 1 }))
  await newQueue(owner)
  const handles = Array.from({ length: workspaces }, (_, n) => `naive-${n}`)
  const accounts = await network.accounts(owner, handles)
  const start = (nth: number) => startWorker(database, network.env(nth))
  const killing = stack.use(
    await startKilling({ places: 2, count: kills, next: numbers(seed), start }),
  )
  const next = numbers(seed + 1)
  const editing: Promise<string[]>[] = []
  await spreadOver(killing, { count: items, clients: 1 }, async (nth) => {
    const [id, account] = [newId(), accounts[nth % accounts.length]!]
    const isEdited = Math.floor(((nth + 1) * edits) / items) > Math.floor((nth * edits) / items)
    await owner`insert into naive.item (id, account_id, body, due_at)
      values (${id}, ${account}, ${`Draft ${id}`}, now() + ${isEdited ? DUE_IN_MS : 0} * interval
        '1 ms')`
    if (isEdited)
      editing.push(editWhenDue(owner, { id, afterMs: DUE_IN_MS + (2 * next() - 1) * AROUND_MS }))
  })
  const replaced = (await Promise.all(editing)).flat()
  await killing.over
  await untilNoneIsLeft('items', SETTLES_WITHIN_MS, () => leftOver(owner))
  await network.gather?.(owner)
  const doubled = await doubledTexts(owner, network.posts)
  const unapproved = await countIn(
    owner`select count(*)::int as n from ${owner(network.posts)}
      where text = any(${replaced}::text[])`,
  )
  const counts = {
    naive: 'yes',
    seed,
    items,
    kills: killing.kills(),
    doubled,
    share: (doubled / items).toFixed(2),
    edited: replaced.length,
    unapproved,
    unposted: await leftOver(owner),
  }
  const many = verdictOnNaive(counts, { 'items doubled': doubled }, items * network.mustDouble)
  const found: Record<string, number> =
    edits > 0 ? { 'posts of a text that had been replaced': unapproved } : {}
  return { counts, broken: [...many.broken, ...verdictOnNaive(counts, found).broken] }
}
