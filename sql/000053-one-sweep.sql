-- The loop of the sweeps stands here once; each of them says what is over, as before, and how long it is kept at least.

-- Removes of a workspace the rows that queries find: pairs of a table and a query for the `ctid` of at most `most` rows, in this order. The
-- queries get the workspace as $1, `since` as $2 and `most` as $3. True while there may be more. Where there is something to remove it
-- takes the row that places the workspace, as letters do, so that the two never wait for each other in a circle; then it looks again. Only
-- functions that run as the owner of the tables, whom policies bind like anybody, call it: it names the workspace to the policies.
create function sweep_rows(swept uuid, since timestamptz, most integer, parts text[]) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  part text[];
  old tid[];
  taken boolean := false;
  more boolean := false;
begin
  perform set_config('app.tenant', swept::text, true);
  foreach part slice 1 in array parts
  loop
    execute format('select array(%s)', part[2]) into old using swept, since, most;
    continue when cardinality(old) = 0;
    if not taken then
      perform 1 from public.actor where tenant_id = swept for no key update;
      taken := true;
      execute format('select array(%s)', part[2]) into old using swept, since, most;
    end if;
    execute format('delete from public.%I where ctid = any($1)', part[1]) using old;
    more := more or cardinality(old) = most;
  end loop;
  return more;
end $$;

revoke execute on function sweep_rows(uuid, timestamptz, integer, text[]) from public;

-- Audit rows are removed here, where they are older than `kept_since`, which is never less than a day ago, and where a workspace is
-- erased, and nowhere else; so it may do what none of the server's roles may. What the audit names, and nothing else refers to, goes with
-- it: keys that are dead, invitations that are over, learnings that are retired, experiments that nothing was drafted for.
create or replace function sweep_tenant(swept uuid, kept_since timestamptz, most integer) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select public.sweep_rows(swept, least(kept_since, now() - interval '1 day'), most, array[
    ['idempotency', 'select ctid from public.idempotency where tenant_id = $1 and expires_at <= now() order by expires_at limit $3'],
    ['outbox', 'select ctid from public.outbox where tenant_id = $1 and expires_at <= now() order by expires_at limit $3'],
    -- Ids are in the order of time, near enough: no more than these are looked at, and only where the first of them is old.
    ['audit', 'select o.ctid from (select ctid, at from public.audit where tenant_id = $1 order by id limit $3) o where o.at < $2
      and (select at from public.audit where tenant_id = $1 order by id limit 1) < $2'],
    ['api_key', 'select ctid from public.api_key where tenant_id = $1 and (revoked_at is not null or expires_at is not null)
      and least(revoked_at, expires_at) < $2 limit $3'],
    ['invitation', 'select ctid from public.invitation where tenant_id = $1 and expires_at < $2 limit $3'],
    ['learning', 'select ctid from public.learning where tenant_id = $1 and status = ''retired'' and updated_at < $2 limit $3'],
    ['experiment', 'select ctid from public.experiment e where tenant_id = $1 and status = ''concluded'' and concluded_at < $2
      and not exists (select 1 from public.batch b where b.tenant_id = $1 and b.experiment_id = e.id)
      and not exists (select 1 from public.item i where i.tenant_id = $1 and i.experiment_id = e.id) limit $3']])
$$;

-- What the agent did before `kept_since`, which is never less than 31 days ago: steps and events of jobs that are over, and the jobs
-- themselves unless a conversation shows them.
create or replace function sweep_agent(swept uuid, kept_since timestamptz, most integer) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select public.sweep_rows(swept, least(kept_since, now() - interval '31 days'), most, array[
    -- Ids of jobs are in the order of time, near enough: no more than these are looked at.
    ['agent_event', 'select o.ctid from (select ctid, job_id from public.agent_event where tenant_id = $1 order by job_id, seq limit $3) o
      join public.agent_job j on j.tenant_id = $1 and j.id = o.job_id and j.ended_at < $2'],
    ['agent_step', 'select o.ctid from (select ctid, job_id from public.agent_step where tenant_id = $1 order by job_id, number limit $3) o
      join public.agent_job j on j.tenant_id = $1 and j.id = o.job_id and j.ended_at < $2'],
    ['agent_job', 'select ctid from public.agent_job j where tenant_id = $1 and ended_at < $2 and kind not in (''turn'', ''channel'')
      and not exists (select 1 from public.agent_event e where e.tenant_id = $1 and e.job_id = j.id)
      and not exists (select 1 from public.agent_step s where s.tenant_id = $1 and s.job_id = j.id) limit $3']])
$$;

-- What came in more than 30 days ago, and the conversations of such jobs once the jobs are past their retention, as in sweep_agent.
create or replace function sweep_inbound(swept uuid, kept_since timestamptz, most integer) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select public.sweep_rows(swept, least(kept_since, now() - interval '31 days'), most, array[
    ['inbound_event', 'select ctid from public.inbound_event where tenant_id = $1 and at < now() - interval ''30 days'' limit $3'],
    ['agent_conversation', 'select ctid from public.agent_conversation c where tenant_id = $1 and origin = ''webhook'' and last_at < $2
      and not exists (select 1 from public.agent_job j where j.tenant_id = $1 and j.conversation_id = c.id) limit $3']])
$$;
