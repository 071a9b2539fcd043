-- Adding each answer's bytes to its workspace's total cost a command as much as storing the answer. Now the command that stores an answer
-- says how much it adds: a long one its size, and of the short ones one in sixteen, drawn by the server, sixteen times its size. Rows from
-- before keep their size, which the total contains.
drop trigger count_added on idempotency;
drop trigger count_changed on idempotency;
alter table idempotency alter column size drop expression;
alter table idempotency rename column size to counted;
alter table idempotency alter column counted set default 0;

create or replace function count_answer() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    insert into public.counter as c (tenant_id, key, period, used) values (new.tenant_id, 'answers', 'bytes', new.counted)
      on conflict (tenant_id, key) do update set used = least(2000000000, c.used + excluded.used);
  else
    update public.counter set used = greatest(0, least(2000000000, used::bigint + new.counted - old.counted))
      where tenant_id = new.tenant_id and key = 'answers';
    if not found and new.counted > 0 then
      insert into public.counter (tenant_id, key, period, used) values (new.tenant_id, 'answers', 'bytes', new.counted);
    end if;
  end if;
  return null;
end $$;

create or replace function uncount_answers() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update public.counter c set used = greatest(0, c.used - g.bytes)
    from (select tenant_id, sum(counted) as bytes from gone group by tenant_id) g
    where g.bytes > 0 and c.tenant_id = g.tenant_id and c.key = 'answers';
  return null;
end $$;

create trigger count_added after insert on idempotency for each row when (new.counted > 0) execute function count_answer();
create trigger count_changed after update on idempotency for each row when (old.counted <> new.counted) execute function count_answer();
