/** What the network shows against what the items say. */
import type postgres from 'postgres'
import { countIn, one, untilNoneIsLeft } from '../ledger.ts'

export interface Seen {
  items: number
  posted: number
  failed: number
  /** Taken back by people, who left them as drafts. */
  drafted: number
  returned: number
  /**
   * Of all items, those whose doubt has ended by itself: the network answered with an error and
   * provably never made the post.
   */
  returned_by_itself: number
  /** In doubt, and those of them that wait for a person. */
  unconfirmed: number
  in_review: number
}

/**
 * Items that are on their way; with `doubts`, those too that the machine still looks for, and what
 * the network has still to apply.
 */
const openItems = async (owner: postgres.Sql, doubts: 'counted' | 'left'): Promise<number> => {
  const n = await countIn(owner`select count(*)::int as n from item
    where status = 'publishing' or (status = 'approved' and post_at is not null)`)
  if (doubts === 'left') return n
  const { rest } = await one(owner<
    { rest: number }[]
  >`select (select count(*) from sandbox.delayed)::int
    + (select count(*) from item where status = 'publish_unconfirmed' and not review)::int as rest`)
  return n + rest
}

/** Waits until nothing is on its way; what is still broken then, in words. */
export const untilSettled = (
  owner: postgres.Sql,
  { doubts, withinMs }: { doubts: 'counted' | 'left'; withinMs: number },
): Promise<string[]> => untilNoneIsLeft('items', withinMs, () => openItems(owner, doubts))

export const seenItems = (owner: postgres.Sql): Promise<Seen> =>
  one(owner<
    Seen[]
  >`select count(*)::int as items, count(*) filter (where status = 'posted')::int as posted,
    count(*) filter (where status = 'publish_failed')::int as failed,
      count(*) filter (where status = 'drafted')::int as drafted,
      count(*) filter (where status = 'approved')::int as returned,
    (select count(*) from attempt where state = 'returned')::int as returned_by_itself,
    count(*) filter (where status = 'publish_unconfirmed')::int as unconfirmed,
      count(*) filter (where review)::int as in_review from item`)

/**
 * Keeps what is announced in the table `announced`: the outbox lets go of what is old, and a step
 * of the clock makes much old.
 */
export const recordAnnounced = async (owner: postgres.Sql): Promise<void> => {
  await owner`create table announced (tenant_id uuid not null, type text not null,
    data jsonb not null)`
  await owner.unsafe(`create function announce() returns trigger language plpgsql security definer as $$ begin
    insert into public.announced values (new.tenant_id, new.type, new.data);
    return null; end $$`)
  await owner`create trigger announce after insert on outbox for each row execute function
    announce()`
}

/** Where the sandbox keeps what was posted. */
export const SANDBOX_POSTS = 'sandbox.posts'

interface Tables {
  /** What was announced. */
  events?: 'outbox' | 'announced'
  /** What was posted. */
  posts?: string
}

/** How often each rule is broken, by the rule. */
export const brokenRules = (
  owner: postgres.Sql,
  { events = 'outbox', posts = SANDBOX_POSTS }: Tables = {},
): Promise<Record<string, number>> =>
  one(owner<Record<string, number>[]>`
    with seen as (select account_id, text, count(*) as times from ${owner(posts)}
      group by account_id, text),
      told as (select i.*, coalesce(s.times, 0) as times,
        (select count(*) from ${owner(events)} o where o.tenant_id = i.tenant_id
          and o.type = 'growth.item.posted' and o.data->>'item_id' = i.id::text) as events
        from item i left join seen s on s.text = i.body and s.account_id = i.account_external_id)
    select count(*) filter (where times > 1)::int as "doubled",
      count(*) filter (where status = 'posted' and times = 0)::int as "posted,
        yet not on the network",
      count(*) filter (where times > 0 and status not in ('posted', 'publish_unconfirmed'))::int as
        "on the network, yet neither posted nor unconfirmed",
      count(*) filter (where status not in ('posted', 'publish_failed', 'approved',
        'publish_unconfirmed', 'drafted'))::int as "without an end",
      count(*) filter (where status = 'approved' and post_at is not null)::int as "left on the
        schedule",
      count(*) filter (where status in ('approved', 'publish_failed')
        and last_error is null)::int as "given back without a reason",
      count(*) filter (where events <> (status = 'posted')::int)::int as "not announced exactly as
        often as posted",
      count(*) filter (where status = 'publish_unconfirmed' and not exists
        (select 1 from work w where w.tenant_id = told.tenant_id and w.ref_id = told.id))::int as
          "in doubt without work",
      (select count(*)::int from seen s where not exists
        (select 1 from item i where i.body = s.text and i.account_external_id = s.account_id)) as
          "posts of no item",
      (select count(*)::int from attempt a where a.state = 'returned'
        and a.network_key is null and (a.doubt_cause <> 'server_error' or a.proof_reads < 3))
        as "returned without a proof",
      (select count(*)::int from attempt a join connection c on c.id = a.connection_id
        where a.state = 'returned' and exists
        (select 1 from ${owner(posts)} p where p.account_id = c.external_id and p.text = a.sent_text
          and not exists
          (select 1 from attempt o where o.external_id = p.id))) as "returned, yet on the network",
      (select count(*)::int from attempt a where a.state = 'open') as "attempts left open"
        from told`)

/** Texts that stand on the network more than once. */
export const doubledTexts = (owner: postgres.Sql, posts = SANDBOX_POSTS): Promise<number> =>
  countIn(owner`select count(*)::int as n from (select 1 from ${owner(posts)} group by text
    having count(*) > 1) d`)
