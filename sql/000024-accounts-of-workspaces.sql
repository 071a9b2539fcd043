-- An account of the sandbox belongs to one workspace: elsewhere the same handle is another account. Null: nobody has connected it.
-- No foreign key, because the network knows nothing of our tables.
alter table sandbox.accounts add column workspace_id uuid;
drop index sandbox.accounts_handle;

-- An account that several workspaces have connected stays with the first of them, together with what was posted from it. To the
-- others it is disconnected: their approvals stay bound to it, so nothing goes out from another account unless a person approves it
-- again, and an attempt in doubt is still looked up where it was sent. Connecting the handle again makes an account of their own.
alter table connection no force row level security;
alter table audit no force row level security;
update sandbox.accounts a set workspace_id = (select c.tenant_id from connection c
  where c.network = 'sandbox' and c.external_id = a.id order by c.created_at, c.id limit 1);
with gone as (
  update connection c set status = 'disconnected', is_default = false, updated_at = now() from sandbox.accounts a
  where c.network = 'sandbox' and c.external_id = a.id and c.tenant_id <> a.workspace_id and c.status = 'connected'
  returning c.id, c.tenant_id, c.handle
)
insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation, ref_id, detail)
  -- uuid v7, as the server makes them
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing
      substring(int8send((extract(epoch from now()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid,
    tenant_id, now(), 'system', 'operator', 'admin', 'app.connections.disconnect', id,
    jsonb_build_object('network', 'sandbox', 'handle', handle, 'reason', 'the account belongs to another workspace')
  from gone;
alter table connection force row level security;
alter table audit force row level security;

-- By handle, because targets are read by theirs.
create unique index accounts_handle on sandbox.accounts (lower(handle), workspace_id);
create index accounts_workspace on sandbox.accounts (workspace_id);

-- As before, but for the accounts of the sandbox: those of the workspace go, whatever else is or was connected to them.
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
  -- The sandbox is the one network that lives here: its accounts of the workspace go too, and what they have posted.
  theirs := array(select a.id from sandbox.accounts a where a.workspace_id = doomed);
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
drop policy sandbox on connection;
