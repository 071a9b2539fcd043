-- Learnings are listed whatever their state.
create index on learning (tenant_id, id);

-- What a workspace offers, and what posts may mention of it.
create table product (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  name text not null,
  one_liner text not null,
  url text,
  status text not null check (status in ('active', 'archived')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index on product (tenant_id, id);
create unique index on product (tenant_id, lower(name)) where status = 'active';

alter table product enable row level security;
alter table product force row level security;
create policy app on product to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update on product to tendril_app;

-- As before, and with the products.
create or replace function erase_tenant(doomed uuid, most integer) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  part text[];
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
  -- What refers to others before those. Of the outbox both kinds of rows that there are, each found by its index.
  foreach part slice 1 in array array[
    ['work', 'true'], ['attempt', 'true'], ['item', 'true'], ['batch', 'true'], ['connection', 'true'], ['profile', 'true'],
    ['growth_channel', 'true'], ['learning', 'true'], ['product', 'true'], ['webhook_endpoint', 'true'],
    ['outbox', 'state = ''pending'''], ['outbox', 'expires_at is not null'], ['idempotency', 'true'], ['counter', 'true'], ['audit', 'true']]
  loop
    execute format('delete from public.%I where ctid = any(array(select ctid from public.%I where tenant_id = $1 and %s limit $2))',
      part[1], part[1], part[2]) using doomed, room;
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
