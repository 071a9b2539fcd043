-- Answers that are kept for replays: how each is written (zstd: compressed, in base64; inside what is sealed, where it is sealed), since
-- when it is kept, and what it takes, about, with its row and the entries of the indexes.
alter table idempotency
  add column encoding text not null default 'text' check (encoding in ('text', 'zstd')),
  add column created_at timestamptz,
  add column size integer not null generated always as (256 + octet_length(key) + coalesce(octet_length(body), 0)) stored;

-- Policies hold for the owner of the tables too, so they are off for these two statements.
alter table idempotency no force row level security;
alter table counter no force row level security;
update idempotency set created_at = expires_at - interval '24 hours';
insert into counter (tenant_id, key, period, used)
  select tenant_id, 'answers', 'bytes', least(2000000000, sum(size)) from idempotency group by tenant_id;
alter table idempotency force row level security;
alter table counter force row level security;

alter table idempotency
  alter column created_at set not null,
  alter column created_at set default clock_timestamp();

-- What a workspace's answers take altogether is a counter of its own, kept by whatever changes the table, in the same transaction: the
-- gate of a letter reads it with the other counters. Rows that go never make a counter: there is none of a workspace that is erased.
create function count_answer() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    insert into public.counter as c (tenant_id, key, period, used) values (new.tenant_id, 'answers', 'bytes', new.size)
      on conflict (tenant_id, key) do update set used = least(2000000000, c.used + excluded.used);
  else
    update public.counter set used = greatest(0, least(2000000000, used + new.size - old.size))
      where tenant_id = new.tenant_id and key = 'answers';
  end if;
  return null;
end $$;

create function uncount_answers() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update public.counter c set used = greatest(0, c.used - g.bytes)
    from (select tenant_id, sum(size) as bytes from gone group by tenant_id) g
    where c.tenant_id = g.tenant_id and c.key = 'answers';
  return null;
end $$;
revoke execute on function count_answer(), uncount_answers() from public;

-- Most commands that are kept add one row: they pay for one trigger, and not for the sums that removing many rows takes.
create trigger count_added after insert on idempotency for each row execute function count_answer();
create trigger count_changed after update on idempotency for each row when (old.size <> new.size) execute function count_answer();
create trigger count_gone after delete on idempotency referencing old table as gone for each statement execute function uncount_answers();
