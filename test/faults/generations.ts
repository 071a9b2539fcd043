/**
 * What the database says of generations once they are over: each has ended once, and the quota
 * spent equals what was delivered.
 */

import type postgres from 'postgres'
import type { CapKey, QuotaKey } from '#contract/limits'
import { countIn } from './ledger.ts'

export interface Kind {
  /** Its name in the summary: the plural, and the path of its operations. */
  name: 'batches' | 'articles' | 'audits' | 'reports' | 'engagements'
  /** Its table. */
  table: string
  /** The state of a delivered one. */
  done: 'ready' | 'drafted'
  /** The quota of the month that it spends, if any, and its hourly cap. */
  quota?: QuotaKey
  cap: CapKey
  /** The field that names it in a request for approval; none if it needs no approval. */
  approval?: string
}

export const kinds: readonly Kind[] = [
  {
    name: 'batches',
    table: 'batch',
    done: 'ready',
    quota: 'posts',
    cap: 'create_batch',
    approval: 'batch_id',
  },
  {
    name: 'articles',
    table: 'article',
    done: 'ready',
    quota: 'articles',
    cap: 'create_article',
    approval: 'article_id',
  },
  { name: 'audits', table: 'growth_audit', done: 'ready', quota: 'audits', cap: 'create_audit' },
  { name: 'reports', table: 'report', done: 'ready', quota: 'reports', cap: 'create_report' },
  {
    name: 'engagements',
    table: 'engagement',
    done: 'drafted',
    cap: 'create_engagement',
    approval: 'engagement_id',
  },
]

export interface Settlement extends Record<string, number> {
  /** Of all kinds; a drafted engagement counts as ready. */
  ready: number
  failed: number
  enqueue_failed: number
  /** Of batches. */
  items: number
  /** Units of the quota of posts that were not given back. */
  spent: number
  /** Batches that are ready with fewer items than requested. */
  partly: number
}

const endsOf = async (owner: postgres.Sql, { table, done }: Kind) => {
  const [row] = await owner<{ ready: number; failed: number; enqueue_failed: number }[]>`select
    count(*) filter (where status = ${done})::int as ready,
      count(*) filter (where status = 'failed')::int as failed,
    count(*) filter (where error = 'enqueue_failed')::int as enqueue_failed from ${owner(table)}`
  return row!
}

/** The ends of all kinds together, what batches made, and the ends of each kind by its name. */
export const settlementOf = async (owner: postgres.Sql): Promise<Settlement> => {
  const ends = await Promise.all(
    kinds.map(async (kind) => ({ kind, ...(await endsOf(owner, kind)) })),
  )
  const [made] = await owner<Pick<Settlement, 'items' | 'spent' | 'partly'>[]>`select
    (select count(*)::int from item where batch_id is not null) as items,
    (select coalesce(sum(used), 0)::int from counter where key = 'posts') as spent,
    count(*) filter (where status = 'ready' and delivered < requested)::int as partly from batch`
  const sum = (what: 'ready' | 'failed' | 'enqueue_failed') =>
    ends.reduce((total, end) => total + end[what], 0)
  const each = ends.flatMap(({ kind: { name }, ready, failed }) => [
    [`${name}_ready`, ready] as const,
    [`${name}_failed`, failed] as const,
  ])
  return {
    ready: sum('ready'),
    failed: sum('failed'),
    enqueue_failed: sum('enqueue_failed'),
    ...made!,
    ...Object.fromEntries(each),
  }
}

const total = async (count: (kind: Kind) => Promise<number>): Promise<number> =>
  (await Promise.all(kinds.map(count))).reduce((sum, n) => sum + n, 0)

/** How many are not over yet. */
export const unsettled = (owner: postgres.Sql): Promise<number> =>
  total(({ table, done }) =>
    countIn(
      owner`select count(*)::int as n from ${owner(table)} where status not in (${done}, 'failed')`,
    ),
  )

/** What a workspace `t` got of a kind, in units of its quota. */
const deliveredOf = (owner: postgres.Sql, { table, name, done }: Kind) =>
  name === 'batches'
    ? owner`(select coalesce(sum(delivered), 0) from batch b where b.tenant_id = t.id)`
    : owner`(select count(*) from ${owner(table)} b where b.tenant_id = t.id and status = ${done})`

/** Rules for every kind, each with its name. */
const rulesOf = async (owner: postgres.Sql, kind: Kind): Promise<Record<string, number>> => {
  const { name, table, done, quota, cap, approval } = kind
  const records = owner(table)
  const spent = (key: string) =>
    owner`(select coalesce(sum(used), 0) from counter c where c.tenant_id = t.id and key = ${key})`
  const requests = owner`(select count(*) from outbox o where type = 'growth.approval.requested'
    and o.tenant_id = r.tenant_id
    and data->>${approval ?? 'none'} = r.id::text)`
  return {
    [`${name} that are not over`]: await countIn(
      owner`select count(*)::int as n from ${records} where status not in (${done}, 'failed')`,
    ),
    [`${name} with an error that the contract does not know`]:
      await countIn(owner`select count(*)::int as n from ${records}
      where not case status when ${done} then error is null else error = 'enqueue_failed'
        or error ~ '^generation_failed: .{10,}' end`),
    [`${name} without exactly one request for approval where they wait for one, and others with one`]:
      await countIn(owner`
      select count(*)::int as n from ${records} r where (${approval !== undefined}
        and status = ${done})::int <> ${requests}`),
    [`workspaces that spent other of ${quota ?? 'nothing'} than was delivered to them`]: quota
      ? await countIn(
          owner`select count(*)::int as n from tenant t
            where ${spent(quota)} <> ${deliveredOf(owner, kind)}`,
        )
      : 0,
    [`workspaces whose ${cap} was taken other than once for each`]:
      await countIn(owner`select count(*)::int as n from tenant t where
      ${spent(cap)} <> (select count(*) from ${records} r where r.tenant_id = t.id)`),
  }
}

const rulesOfBatches = async (owner: postgres.Sql): Promise<Record<string, number>> => ({
  'batches without exactly one growth.batch.settled that says the same':
    await countIn(owner`select count(*)::int as n from batch b where
    1 <> (select count(*) from outbox where type = 'growth.batch.settled'
      and data->>'batch_id' = b.id::text) or not exists
      (select 1 from outbox where type = 'growth.batch.settled'
        and data = jsonb_build_object('batch_id', b.id, 'status', b.status,
        'error', b.error, 'requested', b.requested, 'delivered', b.delivered))`),
  'growth.batch.settled of no batch':
    await countIn(owner`select count(*)::int as n from outbox where type = 'growth.batch.settled'
    and not exists (select 1 from batch b where b.id::text = data->>'batch_id')`),
  'batches whose items are not as many as delivered':
    await countIn(owner`select count(*)::int as n from batch b where
    delivered <> (select count(*) from item where batch_id = b.id) or delivered > requested
      or (status = 'ready') <> (delivered > 0)`),
  'items without a ready batch or article':
    await countIn(owner`select count(*)::int as n from item i where not exists
    (select 1 from batch b where b.id = i.batch_id and b.tenant_id = i.tenant_id
      and b.status = 'ready') and not exists
    (select 1 from article a where a.item_id = i.id and a.tenant_id = i.tenant_id
      and a.status = 'ready' and i.kind = 'article')`),
})

const rulesOfOthers = async (owner: postgres.Sql): Promise<Record<string, number>> => ({
  'ready articles without their item': await countIn(
    owner`select count(*)::int as n from article where (status = 'ready') <> (item_id is not null)`,
  ),
  'ready audits and reports without a result, and others with one': await countIn(owner`select
    (select count(*) from growth_audit where (status = 'ready') <> (result is not null))::int
      + (select count(*) from report where (status = 'ready') <> (data is not null
        and markdown is not null))::int as n`),
  'learnings of an audit that is not ready, or that has not named them':
    await countIn(owner`select count(*)::int as n from learning l
    where audit_id is not null and not exists (select 1 from growth_audit a where a.id = l.audit_id
      and a.status = 'ready'
      and a.result->'learnings' @> jsonb_build_array(jsonb_build_object('id', l.id)))`),
  'drafted engagements without words, and others with some':
    await countIn(owner`select count(*)::int as n from engagement
    where (status = 'drafted') <> (body is not null)`),
})

/**
 * How often each rule is broken, by rule. `secret` must be stored nowhere; `asked` is the number of
 * admitted generations.
 */
export const brokenRules = async (
  owner: postgres.Sql,
  { secret, asked }: { secret: string; asked: number },
): Promise<Record<string, number>> => {
  const made = await total(({ table }) =>
    countIn(owner`select count(*)::int as n from ${owner(table)}`),
  )
  return {
    'generations more or fewer than were admitted': Math.abs(asked - made),
    ...Object.assign({}, ...(await Promise.all(kinds.map((kind) => rulesOf(owner, kind))))),
    ...(await rulesOfBatches(owner)),
    ...(await rulesOfOthers(owner)),
    'work that is left': await countIn(
      owner`select count(*)::int as n from work where lane = 'generation'`,
    ),
    'rows that hold the key of the provider': await countIn(owner`select count(*)::int as n from
      (select b::text as row from batch b union all select o::text from outbox o union all
        select a::text from audit a
        union all select i::text from item i union all select a::text from article a union all
          select g::text from growth_audit g
        union all select r::text from report r union all select e::text from engagement e) r
          where strpos(row, ${secret}) > 0`),
  }
}
