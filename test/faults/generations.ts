/** What the database says of generations once they are over: each has ended once, and what was spent is what was delivered. */
import type postgres from 'postgres'

export interface Settlement {
  ready: number
  failed: number
  enqueue_failed: number
  items: number
  /** Units of quota that were not given back. */
  spent: number
  /** Ready with fewer items than asked for. */
  partly: number
}

type Count = { n: number }
const one = async (rows: Promise<readonly Count[]>): Promise<number> => (await rows)[0]!.n

export const settlementOf = async (owner: postgres.Sql): Promise<Settlement> => {
  const [row] = await owner<Settlement[]>`select
    count(*) filter (where status = 'ready')::int as ready, count(*) filter (where status = 'failed')::int as failed,
    count(*) filter (where error = 'enqueue_failed')::int as enqueue_failed,
    (select count(*)::int from item) as items,
    (select coalesce(sum(used), 0)::int from counter where key = 'posts') as spent,
    count(*) filter (where status = 'ready' and delivered < requested)::int as partly from batch`
  return row!
}

/** How many are not over yet. */
export const unsettled = (owner: postgres.Sql): Promise<number> =>
  one(owner`select count(*)::int as n from batch where status not in ('ready', 'failed')`)

/** How often each rule is broken, by the rule. `secret`: what must stand nowhere; `asked`: the generations that were admitted. */
export const brokenRules = async (
  owner: postgres.Sql,
  { secret, asked }: { secret: string; asked: number },
): Promise<Record<string, number>> => ({
  'generations that are not over': await unsettled(owner),
  'generations more or fewer than were admitted': Math.abs(asked - (await one(owner`select count(*)::int as n from batch`))),
  'generations with an error that the contract does not know': await one(owner`select count(*)::int as n from batch where not
    case status when 'ready' then error is null else error = 'enqueue_failed' or error ~ '^generation_failed: .{10,}' end`),
  'generations without exactly one growth.batch.settled that says the same': await one(owner`select count(*)::int as n from batch b where
    1 <> (select count(*) from outbox where type = 'growth.batch.settled' and data->>'batch_id' = b.id::text) or not exists
      (select 1 from outbox where type = 'growth.batch.settled' and data = jsonb_build_object('batch_id', b.id, 'status', b.status,
        'error', b.error, 'requested', b.requested, 'delivered', b.delivered))`),
  'ready batches without exactly one request for approval, and others with one':
    await one(owner`select count(*)::int as n from batch b where
    (status = 'ready')::int <> (select count(*) from outbox where type = 'growth.approval.requested' and data->>'batch_id' = b.id::text)`),
  'batches whose items are not as many as delivered': await one(owner`select count(*)::int as n from batch b where
    delivered <> (select count(*) from item where batch_id = b.id) or delivered > requested or (status = 'ready') <> (delivered > 0)`),
  'items without a ready batch': await one(owner`select count(*)::int as n from item i where not exists
    (select 1 from batch b where b.id = i.batch_id and b.tenant_id = i.tenant_id and b.status = 'ready')`),
  'workspaces that spent other than was delivered to them': await one(owner`select count(*)::int as n from tenant t where
    (select coalesce(sum(used), 0) from counter c where c.tenant_id = t.id and key = 'posts')
      <> (select coalesce(sum(delivered), 0) from batch b where b.tenant_id = t.id)`),
  'work that is left': await one(owner`select count(*)::int as n from work`),
  'rows that hold the key of the provider': await one(owner`select count(*)::int as n from
    (select b::text as row from batch b union all select o::text from outbox o union all select a::text from audit a
      union all select i::text from item i) r where strpos(row, ${secret}) > 0`),
})
