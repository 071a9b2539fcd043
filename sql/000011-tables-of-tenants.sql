-- Tables that hold rows of a tenant, those that refer to others before those: whatever a later migration adds is among them. Without
-- the tables by which anybody comes in, and members, which erasing a workspace takes care of itself.
create function tenant_tables() returns setof text
language sql stable set search_path = pg_catalog, pg_temp as $$
  with recursive tables as (
    select c.oid, c.relname::text as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
      and c.relname not in ('actor', 'session', 'invitation', 'api_key', 'member')
  ), reached as (
    select oid, 0 as level from tables
    union all
    select f.confrelid, r.level + 1 from reached r join pg_constraint f on f.conrelid = r.oid and f.contype = 'f' and f.confrelid <> f.conrelid
    where r.level < 20
  )
  select t.name from tables t join reached r using (oid) group by t.name order by max(r.level), t.name
$$;

-- As before, but for the list of tables, which the catalogue gives.
create or replace function erase_tenant(doomed uuid, most integer) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  part record;
  members uuid[];
  theirs text[];
  room integer := most;
  removed integer;
begin
  perform set_config('app.tenant', doomed::text, true);
  perform 1 from public.tenant where id = doomed and deletes_at <= clock_timestamp() for update skip locked;
  if not found then return false; end if;
  delete from public.actor where tenant_id = doomed;
  delete from public.session where tenant_id = doomed;
  delete from public.invitation where tenant_id = doomed;
  delete from public.api_key where tenant_id = doomed;
  -- The sandbox is the one network that lives here: what its accounts have posted goes too, unless another workspace has them connected.
  theirs := array(select c.external_id from public.connection c where c.tenant_id = doomed and c.network = 'sandbox'
    and not exists (select 1 from public.connection o where o.network = 'sandbox' and o.external_id = c.external_id and o.tenant_id <> doomed));
  delete from sandbox.delayed where account_id = any(theirs);
  delete from sandbox.posts where id = any(array(select p.id from sandbox.posts p where p.account_id = any(theirs) limit room));
  get diagnostics removed = row_count;
  room := room - removed;
  if room <= 0 then return true; end if;
  delete from sandbox.accounts where id = any(theirs);
  -- Of the outbox both kinds of rows that there are, each found by its index.
  for part in
    select name, condition from public.tenant_tables() with ordinality as t (name, position)
      cross join lateral unnest(case t.name when 'outbox' then array['state = ''pending''', 'expires_at is not null'] else array['true'] end) condition
    order by position
  loop
    execute format('delete from public.%I where ctid = any(array(select ctid from public.%I where tenant_id = $1 and %s limit $2))',
      part.name, part.name, part.condition) using doomed, room;
    get diagnostics removed = row_count;
    room := room - removed;
    if room <= 0 then return true; end if;
  end loop;
  members := array(select person_id from public.member where tenant_id = doomed limit room);
  delete from public.member where tenant_id = doomed and person_id = any(members);
  perform public.erase_person(person) from unnest(members) person;
  if cardinality(members) = room then return true; end if;
  delete from public.tenant where id = doomed;
  return false;
end $$;

revoke execute on function tenant_tables() from public;

-- What the network says of a posted item, read again and again: numbers only grow old, and none is overwritten.
create table item_metric (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  item_id uuid not null,
  at timestamptz not null,
  impressions integer not null check (impressions >= 0),
  likes integer not null check (likes >= 0),
  replies integer not null check (replies >= 0),
  reposts integer not null check (reposts >= 0),
  quotes integer not null check (quotes >= 0),
  clicks integer not null check (clicks >= 0),
  unique (tenant_id, item_id, at),
  foreign key (tenant_id, item_id) references item (tenant_id, id)
);
create index on item_metric (tenant_id, id);
alter table item_metric enable row level security;
alter table item_metric force row level security;
create policy app on item_metric for all to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, delete on item_metric to tendril_app;
