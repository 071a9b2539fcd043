-- By these the sweep finds what is over, without a look at the rest.
create index api_key_ended on api_key (tenant_id, (least(revoked_at, expires_at))) where revoked_at is not null or expires_at is not null;
create index invitation_expiry on invitation (tenant_id, expires_at);
create index learning_retired on learning (tenant_id, updated_at) where status = 'retired';
create index experiment_concluded on experiment (tenant_id, concluded_at) where status = 'concluded';

-- Removes of a workspace what its time is over for: at most so many rows of each kind a call, true while there may be more. Audit rows
-- are removed here, where they are older than `kept_since`, which is never less than a day ago, and where a workspace is erased, and
-- nowhere else; so it may do what none of the server's roles may. It runs as the owner of the tables, whom policies bind like anybody, so
-- it names the workspace to them. Where there is something to remove it takes the row that places the workspace, as letters do: the two
-- never wait for each other in a circle.
--
-- What the audit names, and nothing else refers to, goes with it: keys that are dead, invitations that are over, learnings that are
-- retired, experiments that nothing was drafted for.
create function sweep_tenant(swept uuid, kept_since timestamptz, most integer) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  since timestamptz := least(kept_since, now() - interval '1 day');
  part record;
  old tid[];
  taken boolean := false;
  more boolean := false;
begin
  perform set_config('app.tenant', swept::text, true);
  for part in select * from (values
    ('idempotency', 'select ctid from public.idempotency where tenant_id = $1 and expires_at <= now() order by expires_at limit $3'),
    ('outbox', 'select ctid from public.outbox where tenant_id = $1 and expires_at <= now() order by expires_at limit $3'),
    -- Ids are in the order of time, near enough: no more than these are looked at, and only where the first of them is old.
    ('audit', 'select o.ctid from (select ctid, at from public.audit where tenant_id = $1 order by id limit $3) o where o.at < $2
      and (select at from public.audit where tenant_id = $1 order by id limit 1) < $2'),
    ('api_key', 'select ctid from public.api_key where tenant_id = $1 and (revoked_at is not null or expires_at is not null)
      and least(revoked_at, expires_at) < $2 limit $3'),
    ('invitation', 'select ctid from public.invitation where tenant_id = $1 and expires_at < $2 limit $3'),
    ('learning', 'select ctid from public.learning where tenant_id = $1 and status = ''retired'' and updated_at < $2 limit $3'),
    ('experiment', 'select ctid from public.experiment e where tenant_id = $1 and status = ''concluded'' and concluded_at < $2
      and not exists (select 1 from public.batch b where b.tenant_id = $1 and b.experiment_id = e.id)
      and not exists (select 1 from public.item i where i.tenant_id = $1 and i.experiment_id = e.id) limit $3')
  ) as parts (name, query)
  loop
    execute format('select array(%s)', part.query) into old using swept, since, most;
    continue when cardinality(old) = 0;
    if not taken then
      perform 1 from public.actor where tenant_id = swept for no key update;
      taken := true;
      execute format('select array(%s)', part.query) into old using swept, since, most;
    end if;
    execute format('delete from public.%I where ctid = any($1)', part.name) using old;
    more := more or cardinality(old) = most;
  end loop;
  return more;
end $$;

revoke execute on function sweep_tenant(uuid, timestamptz, integer) from public;
grant execute on function sweep_tenant(uuid, timestamptz, integer) to tendril_system;
