/** The same load, network and kills for a publisher that sends again when its lease has expired. */
import postgres from 'postgres'
import { newId } from '#kernel/ids'
import { freshDb } from '#test/support/db'
import { ownEnv } from '#test/support/own-env'
import { startKilling } from './killing.ts'
import { numbers } from './numbers.ts'
import type { Finished } from './own-database.ts'
import { faultsOf, type PostingOptions } from './posting-options.ts'
import { doubledTexts } from './posting-verdict.ts'

/** If fewer items than this share are posted twice, the harness would not notice a faulty publisher. */
const MUST_DOUBLE = 0.2
const SETTLES_WITHIN_MS = 120_000

const startWorker = async (database: object, faults: string) => {
  const child = Bun.spawn([process.execPath, '--no-orphans', 'test/faults/naive-worker.ts'], {
    env: ownEnv({ NAIVE_DATABASE: JSON.stringify(database), SANDBOX_FAULTS: faults }),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return {
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

const newQueue = async (owner: postgres.Sql, accounts: number): Promise<string[]> => {
  await owner`create schema naive`
  await owner`create table naive.item (id uuid primary key, account_id text not null, body text not null, lease_until timestamptz,
    posted boolean not null default false)`
  const handles = Array.from({ length: accounts }, (_, n) => `naive-${n}`)
  const rows = await owner<{ id: string }[]>`insert into sandbox.accounts (handle) select unnest(${handles}::text[]) returning id`
  return rows.map(({ id }) => id)
}

const leftOver = async (owner: postgres.Sql): Promise<number> => {
  const [row] = await owner<
    { n: number }[]
  >`select ((select count(*) from naive.item where not posted) + (select count(*) from sandbox.delayed))::int as n`
  return row!.n
}

/** Broken if fewer than a fifth of the items are on the network more than once. */
export async function runNaive({ items, kills, workspaces, seed, faults }: PostingOptions): Promise<Finished> {
  await using stack = new AsyncDisposableStack()
  const { options } = stack.use(await freshDb())
  const owner = postgres({ ...options, max: 1, onnotice: () => {} })
  stack.defer(() => owner.end({ timeout: 1 }))
  const accounts = await newQueue(owner, workspaces)
  const start = (nth: number) => startWorker(options, faultsOf({ seed, faults }, nth))
  const killing = stack.use(await startKilling({ places: 2, count: kills, next: numbers(seed), start }))
  for (let made = 0; made < items; ) {
    if (made * kills > (killing.kills() + 1) * items) {
      await Bun.sleep(20)
      continue
    }
    const id = newId()
    await owner`insert into naive.item (id, account_id, body) values (${id}, ${accounts[made++ % accounts.length]!}, ${`Draft ${id}`})`
  }
  await killing.over
  const until = performance.now() + SETTLES_WITHIN_MS
  while ((await leftOver(owner)) > 0 && performance.now() < until) await Bun.sleep(100)
  const doubled = await doubledTexts(owner)
  const counts = {
    naive: 'yes',
    seed,
    items,
    kills: killing.kills(),
    doubled,
    share: (doubled / items).toFixed(2),
    unposted: await leftOver(owner),
  }
  const broken = doubled > items * MUST_DOUBLE ? [] : [`only ${doubled} of ${items} items were doubled: the harness would not notice it`]
  return { counts, broken }
}
