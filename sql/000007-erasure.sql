-- A workspace that its owner has deleted is kept until deletes_at, and may be taken back until then. Later it is erased, some rows at a time.
alter table tenant add column deletes_at timestamptz;
create index on tenant (deletes_at) where deletes_at is not null;
grant update (deletes_at) on tenant to tendril_app;

-- What is erased is looked for in what refers to it, by indexes that begin with the tenant. It also keeps records from referring to
-- those of another workspace.
alter table attempt drop constraint attempt_item_id_fkey, drop constraint attempt_connection_id_fkey;
alter table item drop constraint item_batch_id_fkey;
drop index batch_tenant_id_id_idx, item_tenant_id_id_idx, connection_tenant_id_id_idx;
alter table batch add unique (tenant_id, id);
alter table item add unique (tenant_id, id), add foreign key (tenant_id, batch_id) references batch (tenant_id, id);
alter table connection add unique (tenant_id, id);
alter table attempt
  add foreign key (tenant_id, item_id) references item (tenant_id, id),
  add foreign key (tenant_id, connection_id) references connection (tenant_id, id);
create index on api_key (person_id) where person_id is not null;
create index on invitation (invited_by) where invited_by is not null;
create index on invitation (accepted_by) where accepted_by is not null;

-- Erases a person who is a member nowhere; what workspaces did not get from them stays, without their name. False: there is no such
-- person, or they are still a member somewhere.
create function erase_person(gone uuid) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform 1 from public.person p where p.id = gone and not exists (select 1 from public.member m where m.person_id = p.id) for update;
  if not found then return false; end if;
  delete from public.session where person_id = gone;
  update public.invitation set invited_by = null where invited_by = gone;
  update public.invitation set accepted_by = null, email = null where accepted_by = gone;
  -- Without a person a key would be its workspace's own: it is dead before.
  update public.api_key set revoked_at = coalesce(revoked_at, clock_timestamp()), person_id = null where person_id = gone;
  delete from public.person where id = gone;
  return true;
end $$;

-- For the function below, whose owner policies bind: whether another workspace has an account of the sandbox connected.
create policy sandbox on connection for select to tendril_sandbox using (network = 'sandbox');

-- Erases a workspace whose time is over: at most so many rows a call, true while something is left. Nothing is left to decide for
-- whoever calls it, which is why it may do what none of the server's roles may: audit rows and the workspace itself are removed here
-- and nowhere else. It runs as the owner of the tables, whom policies bind like anybody, so it names the workspace to them.
--
-- The first call takes the row that places the workspace, and everything by which anybody comes in: letters that are at work are
-- waited for, and none can begin after. Two callers at once do not wait for each other: one of them finds nothing to do.
create function erase_tenant(doomed uuid, most integer) returns boolean
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
  -- What refers to others before those; the tables of the next two migrations too. Of the outbox both kinds of rows that there are, each found by its index.
  foreach part slice 1 in array array[
    ['work', 'true'], ['attempt', 'true'], ['article', 'true'], ['item', 'true'], ['batch', 'true'], ['connection', 'true'], ['profile', 'true'],
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

revoke execute on function erase_person(uuid), erase_tenant(uuid, integer) from public;
grant execute on function erase_person(uuid), erase_tenant(uuid, integer) to tendril_system;
