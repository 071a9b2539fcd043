/**
 * What stands on the network of replies, quotes, reposts and likes, against what the engagements
 * say.
 */
import type postgres from 'postgres'
import { one, untilNoneIsLeft } from '../ledger.ts'

export interface Ends extends Record<string, number> {
  engagements: number
  executed: number
  failed: number
  returned: number
  /** In doubt, and those of them that wait for a person. */
  unconfirmed: number
  in_review: number
}

/**
 * A like twice is a like, for the network keeps one; what came in for it is counted in `arrived`,
 * whatever became of it.
 */
export const recordArrivals = async (owner: postgres.Sql): Promise<void> => {
  await owner`create table arrived (account_id text not null, post_id text not null,
    kind text not null)`
  await owner.unsafe(`create function arrive() returns trigger language plpgsql security definer as $$ begin
    insert into public.arrived values (new.account_id, new.post_id, new.kind);
    return new; end $$`)
  await owner`create trigger arrive before insert on sandbox.reactions for each row execute function
    arrive()`
}

/**
 * Engagements that are on their way; with `counted`, also those that the machine still looks for,
 * and what is still to be applied.
 */
const openOnes = async (owner: postgres.Sql, doubts: 'counted' | 'left'): Promise<number> => {
  const { on_their_way, in_doubt, late } = await one(owner<
    { on_their_way: number; in_doubt: number; late: number }[]
  >`select
    count(*) filter (where status = 'executing')::int as on_their_way,
    count(*) filter (where status = 'execute_unconfirmed' and not review)::int as in_doubt,
    (select count(*) from sandbox.delayed)::int as late from engagement`)
  return doubts === 'left' ? on_their_way : on_their_way + in_doubt + late
}

/** Waits until nothing is on its way; what is still broken then, in words. */
export const untilExecuted = (
  owner: postgres.Sql,
  { doubts, withinMs }: { doubts: 'counted' | 'left'; withinMs: number },
): Promise<string[]> => untilNoneIsLeft('engagements', withinMs, () => openOnes(owner, doubts))

export const endsOf = (owner: postgres.Sql): Promise<Ends> =>
  one(owner<
    Ends[]
  >`select count(*)::int as engagements, count(*) filter (where status = 'executed')::int as
    executed,
    count(*) filter (where status = 'execute_failed')::int as failed,
      count(*) filter (where status = 'approved')::int as returned,
    count(*) filter (where status = 'execute_unconfirmed')::int as unconfirmed,
      count(*) filter (where review)::int as in_review
    from engagement`)

/**
 * How often each rule is broken, by the rule. `doubled_…`: more than one on the network, or more
 * than one that came in.
 */
export const brokenRules = (owner: postgres.Sql): Promise<Record<string, number>> =>
  one(owner<Record<string, number>[]>`
    with answers as (select id, account_id, coalesce(in_reply_to, quoted) as post_id,
        case when in_reply_to is null then 'quote' else 'reply' end as action from sandbox.posts
          where coalesce(in_reply_to, quoted) is not null),
      standing as (select account_id, post_id, action, id from answers
        union all select account_id, post_id, kind, post_id from sandbox.reactions),
      told as (select e.*, (select count(*) from standing s
        where (s.account_id, s.post_id, s.action)
          = (e.account_external_id, e.post_id, e.action)) as times,
        (select count(*) from arrived a where (a.account_id, a.post_id, a.kind) =
          (e.account_external_id, e.post_id, e.action)) as arrivals,
        exists (select 1 from standing s where (s.account_id, s.post_id, s.action, s.id)
          = (e.account_external_id, e.post_id, e.action, e.external_id)) as named from engagement e)
    select count(*) filter (where action = 'reply' and times > 1)::int as "doubled_replies",
      count(*) filter (where action = 'quote' and times > 1)::int as "doubled_quotes",
      count(*) filter (where action = 'repost' and (times > 1 or arrivals > 1))::int as
        "doubled_reposts",
      count(*) filter (where action = 'like' and (times > 1 or arrivals > 1))::int as
        "doubled_likes",
      count(*) filter (where status = 'executed' and times = 0)::int as "executed,
        yet not on the network",
      count(*) filter (where status = 'executed' and not named)::int as "executed under another id
        than the network's",
      count(*) filter (where times > 0 and status not in ('executed', 'execute_unconfirmed'))::int
        as "on the network, yet neither executed nor unconfirmed",
      count(*) filter (where status not in ('executed', 'execute_failed', 'approved',
        'execute_unconfirmed'))::int as "without an end",
      count(*) filter (where status in ('approved', 'execute_failed')
        and last_error is null)::int as "given back without a reason",
      count(*) filter (where status = 'execute_unconfirmed' and not exists
        (select 1 from work w where w.tenant_id = told.tenant_id and w.ref_id = told.id
          and w.kind = 'reconcile'))::int as "in doubt without work",
      count(*) filter (where review::int <> (select count(*) from outbox o
        where o.type = 'growth.approval.requested'
        and o.data->>'kind' = 'engagement_review' and o.data->>'engagement_id' = told.id::text)
        and status = 'execute_unconfirmed')::int as "in review without exactly
          one call for a person, or called without",
      (select count(*)::int from standing s where not exists (select 1 from engagement e
        where (s.account_id, s.post_id, s.action) = (e.account_external_id, e.post_id, e.action)))
          as "on the network for no engagement",
      (select count(*)::int from attempt a where a.engagement_id is not null
        and a.state = 'open') as "attempts left open" from told`)
