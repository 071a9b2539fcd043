-- Turns and messages of channels are kept with their conversation; the sweep must find the others without a look at those.
create index agent_job_passing on agent_job (tenant_id, ended_at) where ended_at is not null and kind not in ('turn', 'channel');

-- Removes of a workspace what the agent did before `kept_since`, which is never less than 31 days ago: steps and events of jobs that are
-- over, and the jobs themselves unless a conversation shows them. As in sweep_tenant, at most so many rows of each kind a call, true while
-- there may be more, and under the lock that letters hold.
create function sweep_agent(swept uuid, kept_since timestamptz, most integer) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  since timestamptz := least(kept_since, now() - interval '31 days');
  part record;
  old tid[];
  taken boolean := false;
  more boolean := false;
begin
  perform set_config('app.tenant', swept::text, true);
  for part in select * from (values
    -- Ids of jobs are in the order of time, near enough: no more than these are looked at.
    ('agent_event', 'select o.ctid from (select ctid, job_id from public.agent_event where tenant_id = $1 order by job_id, seq limit $3) o
      join public.agent_job j on j.tenant_id = $1 and j.id = o.job_id and j.ended_at < $2'),
    ('agent_step', 'select o.ctid from (select ctid, job_id from public.agent_step where tenant_id = $1 order by job_id, number limit $3) o
      join public.agent_job j on j.tenant_id = $1 and j.id = o.job_id and j.ended_at < $2'),
    ('agent_job', 'select ctid from public.agent_job j where tenant_id = $1 and ended_at < $2 and kind not in (''turn'', ''channel'')
      and not exists (select 1 from public.agent_event e where e.tenant_id = $1 and e.job_id = j.id)
      and not exists (select 1 from public.agent_step s where s.tenant_id = $1 and s.job_id = j.id) limit $3')
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

revoke execute on function sweep_agent(uuid, timestamptz, integer) from public;
grant execute on function sweep_agent(uuid, timestamptz, integer) to tendril_system;
