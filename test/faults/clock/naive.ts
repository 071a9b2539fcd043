/**
 * Posting as it is often done, for comparison: each publisher finds due items by its own wall
 * clock, and takes items whose lease has ended by that clock. The same scenes must expose it.
 */
import type postgres from 'postgres'
import { insertSandboxPost } from '#test/support/database/writes'

const LEASE_MS = 3_000
const SEND_MS = 20
const IDLE_MS = 20

export interface NaivePublishers extends AsyncDisposable {
  /** Sets the wall clock of one of the two. */
  wall(place: number, ahead: number): void
}

const publishDue = async (owner: postgres.Sql, now: Date): Promise<number> => {
  const claimed = await owner<{ id: string; body: string; account_external_id: string }[]>`
    insert into naive.lease (id, until) select id, ${new Date(now.getTime() + LEASE_MS)} from item
      where post_at <= ${now} and id not in (select id from naive.lease where posted
        or until > ${now}) limit 4
    on conflict (id) do update set until = excluded.until
    returning id, (select body from item where id = lease.id),
      (select account_external_id from item where id = lease.id)`
  for (const { id, body, account_external_id } of claimed) {
    await Bun.sleep(SEND_MS)
    await insertSandboxPost({ owner }, account_external_id, body)
    await owner`update naive.lease set posted = true where id = ${id}`
  }
  return claimed.length
}

/** Starts two publishers of the scheduled items; real servers beside them must hold their posts. */
export async function startNaive(owner: postgres.Sql): Promise<NaivePublishers> {
  await owner`create schema naive`
  await owner`create table naive.lease (id uuid primary key, until timestamptz not null,
    posted boolean not null default false)`
  const ahead = [0, 0]
  let stopped = false
  const publisher = async (place: number): Promise<void> => {
    while (!stopped)
      if ((await publishDue(owner, new Date(Date.now() + ahead[place]!))) === 0)
        await Bun.sleep(IDLE_MS)
  }
  const running = Promise.all([0, 1].map(publisher))
  return {
    wall(place, ms) {
      ahead[place] = ms
    },
    async [Symbol.asyncDispose]() {
      stopped = true
      await running
    },
  }
}
