-- What removes rows: the erasure of workspaces and people, and the sweeps. Each sweep says what is
-- over, and how long it is kept at least.

-- Tables that hold rows of a workspace, those that refer to others before those: whatever a later
-- migration adds is among them. Without the tables by which anybody comes in, and members, which
-- erasing a workspace takes care of itself.
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
revoke execute on function tenant_tables() from public;

-- Erases a person who is a member nowhere; what workspaces did not get from them stays, without
-- their name. False: there is no such person, or they are still a member somewhere.
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
revoke execute on function erase_person(uuid) from public;
grant execute on function erase_person(uuid) to tendril_system;

-- Erases a workspace whose time is over: at most so many rows a call, true while something is left.
-- Nothing is left to decide for its caller, which is why it may do what none of the server's roles
-- may: audit rows and the workspace itself are removed here. It runs as the owner of the tables,
-- whom policies bind like anybody, so it names the workspace to them.
--
-- The first call takes the row that places the workspace, and everything by which anybody comes in:
-- letters that are at work are waited for, and none can begin after. Two callers at once do not
-- wait for each other: one of them finds nothing to do.
create function erase_tenant(doomed uuid, most integer) returns boolean
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
revoke execute on function erase_tenant(uuid, integer) from public;
grant execute on function erase_tenant(uuid, integer) to tendril_system;

-- Removes of a workspace the rows that queries find: pairs of a table and a query for the `ctid` of
-- at most `most` rows, in this order. The queries get the workspace as $1, `since` as $2 and `most`
-- as $3. True while there may be more. Where there is something to remove it takes the row that
-- places the workspace, as letters do, so that the two never wait for each other in a circle; then
-- it looks again. Only functions that run as the owner of the tables, whom policies bind like
-- anybody, call it: it names the workspace to the policies.
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

-- Audit rows are removed here, where they are older than `kept_since`, which is never less than a
-- day ago, and where a workspace is erased, and nowhere else; so it may do what none of the
-- server's roles may. What the audit names, and nothing else refers to, goes with it: keys that are
-- dead, invitations that are over, learnings that are retired, experiments that nothing was drafted
-- for.
create function sweep_tenant(swept uuid, kept_since timestamptz, most integer) returns boolean
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
revoke execute on function sweep_tenant(uuid, timestamptz, integer) from public;
grant execute on function sweep_tenant(uuid, timestamptz, integer) to tendril_system;

-- What the agent did before `kept_since`, which is never less than 31 days ago: steps and events of
-- jobs that are over, and the jobs themselves unless a conversation shows them.
create function sweep_agent(swept uuid, kept_since timestamptz, most integer) returns boolean
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
revoke execute on function sweep_agent(uuid, timestamptz, integer) from public;
grant execute on function sweep_agent(uuid, timestamptz, integer) to tendril_system;

-- What came in more than 30 days ago, and the conversations of such jobs once the jobs are past
-- their retention, as in sweep_agent.
create function sweep_inbound(swept uuid, kept_since timestamptz, most integer) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select public.sweep_rows(swept, least(kept_since, now() - interval '31 days'), most, array[
    ['inbound_event', 'select ctid from public.inbound_event where tenant_id = $1 and at < now() - interval ''30 days'' limit $3'],
    ['agent_conversation', 'select ctid from public.agent_conversation c where tenant_id = $1 and origin = ''webhook'' and last_at < $2
      and not exists (select 1 from public.agent_job j where j.tenant_id = $1 and j.conversation_id = c.id) limit $3']])
$$;
revoke execute on function sweep_inbound(uuid, timestamptz, integer) from public;
grant execute on function sweep_inbound(uuid, timestamptz, integer) to tendril_system;

-- What channels brought and were sent before `kept_since`, which is never less than 31 days ago:
-- replies that go out no more, and messages whose jobs are over. The conversations show what was
-- said for longer.
create function sweep_channels(swept uuid, kept_since timestamptz, most integer) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select public.sweep_rows(swept, least(kept_since, now() - interval '31 days'), most, array[
    ['channel_reply', 'select ctid from public.channel_reply where tenant_id = $1 and created_at < $2
      and status not in (''queued'', ''sending'') order by created_at limit $3'],
    ['channel_message', 'select ctid from public.channel_message m where tenant_id = $1 and created_at < $2 and state <> ''fetching''
      and not exists (select 1 from public.agent_job j where j.tenant_id = $1 and j.id = m.job_id and j.ended_at is null)
      order by created_at limit $3']])
$$;
revoke execute on function sweep_channels(uuid, timestamptz, integer) from public;
grant execute on function sweep_channels(uuid, timestamptz, integer) to tendril_system;

-- What was made of conversations that were deleted 30 days ago goes first, so many rows at a time,
-- and each conversation once nothing of it is left. Approvals outlive their jobs, and replies and
-- messages of channels are found by theirs. Artifacts, memories and schedules are the workspace's,
-- and stay.
create function sweep_conversations(swept uuid, most integer) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with deleted as (
    select 'select id from public.agent_conversation where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3' as ids
  ), made as (
    select ids, 'select r.id from public.agent_job r where r.tenant_id = $1 and r.conversation_id in (' || ids || ')' as roots from deleted
  ), whole as (
    select ids, roots, roots || ' union all select c.id from public.agent_job c where c.tenant_id = $1 and c.parent_id is not null and c.root_id in ('
      || roots || ')' as jobs from made
  )
  select public.sweep_rows(swept, now() - interval '30 days', most, array[
    ['agent_feedback', 'select ctid from public.agent_feedback where tenant_id = $1 and conversation_id in (' || ids || ') limit $3'],
    ['agent_approval', 'select ctid from public.agent_approval where tenant_id = $1 and conversation_id in (' || ids || ') limit $3'],
    ['channel_reply', 'select ctid from public.channel_reply where tenant_id = $1 and job_id in (' || jobs || ') limit $3'],
    ['channel_message', 'select ctid from public.channel_message where tenant_id = $1 and job_id in (' || roots || ') limit $3'],
    ['agent_event', 'select ctid from public.agent_event where tenant_id = $1 and job_id in (' || jobs || ') limit $3'],
    ['agent_step', 'select ctid from public.agent_step where tenant_id = $1 and job_id in (' || jobs || ') limit $3'],
    ['agent_job', 'select ctid from public.agent_job j where tenant_id = $1 and parent_id is not null and root_id in (' || roots || ')
      and not exists (select 1 from public.agent_event x where x.tenant_id = $1 and x.job_id = j.id)
      and not exists (select 1 from public.agent_step x where x.tenant_id = $1 and x.job_id = j.id) limit $3'],
    ['agent_job', 'select ctid from public.agent_job j where tenant_id = $1 and conversation_id in (' || ids || ')
      and not exists (select 1 from public.agent_job x where x.tenant_id = $1 and x.parent_id is not null and x.root_id = j.id)
      and not exists (select 1 from public.channel_reply x where x.tenant_id = $1 and x.job_id = j.id)
      and not exists (select 1 from public.channel_message x where x.tenant_id = $1 and x.job_id = j.id)
      and not exists (select 1 from public.agent_event x where x.tenant_id = $1 and x.job_id = j.id)
      and not exists (select 1 from public.agent_step x where x.tenant_id = $1 and x.job_id = j.id) limit $3'],
    ['agent_message', 'select ctid from public.agent_message where tenant_id = $1 and conversation_id in (' || ids || ') limit $3'],
    ['agent_conversation', 'select ctid from public.agent_conversation c where tenant_id = $1 and deleted_at < $2
      and not exists (select 1 from public.agent_feedback x where x.tenant_id = $1 and x.conversation_id = c.id)
      and not exists (select 1 from public.agent_approval x where x.tenant_id = $1 and x.conversation_id = c.id)
      and not exists (select 1 from public.agent_job x where x.tenant_id = $1 and x.conversation_id = c.id)
      and not exists (select 1 from public.agent_message x where x.tenant_id = $1 and x.conversation_id = c.id)
      order by deleted_at limit $3']]) from whole
$$;
revoke execute on function sweep_conversations(uuid, integer) from public;
grant execute on function sweep_conversations(uuid, integer) to tendril_system;

-- Prints whose time is over.
create function sweep_prints(swept uuid, most integer) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select public.sweep_rows(swept, now(), most, array[
    ['item_print', 'select ctid from public.item_print where tenant_id = $1 and until < $2 order by until limit $3']])
$$;
revoke execute on function sweep_prints(uuid, integer) from public;
grant execute on function sweep_prints(uuid, integer) to tendril_system;

-- Items and engagements that were deleted 30 days ago are erased, with all that is kept of them;
-- only the audit goes on naming them. What refers to a record goes first, so many rows at a time,
-- and the record once nothing does.
create function sweep_deleted(swept uuid, most integer) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select public.sweep_rows(swept, now() - interval '30 days', most, array[
    ['revision', 'select ctid from public.revision where tenant_id = $1 and record_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['revision', 'select ctid from public.revision where tenant_id = $1 and record_id in (select id from public.engagement where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['comment', 'select ctid from public.comment where tenant_id = $1 and item_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['item_word', 'select ctid from public.item_word where tenant_id = $1 and item_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['item_print', 'select ctid from public.item_print where tenant_id = $1 and item_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['item_metric', 'select ctid from public.item_metric where tenant_id = $1 and item_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['redraft', 'select ctid from public.redraft where tenant_id = $1 and item_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['article', 'select ctid from public.article where tenant_id = $1 and item_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['attempt', 'select ctid from public.attempt where tenant_id = $1 and item_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['attempt', 'select ctid from public.attempt where tenant_id = $1 and engagement_id in (select id from public.engagement where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['item', 'select ctid from public.item r where tenant_id = $1 and deleted_at < $2 and not exists (select 1 from public.revision x where x.tenant_id = $1 and x.record_id = r.id) and not exists (select 1 from public.comment x where x.tenant_id = $1 and x.item_id = r.id) and not exists (select 1 from public.item_word x where x.tenant_id = $1 and x.item_id = r.id) and not exists (select 1 from public.item_print x where x.tenant_id = $1 and x.item_id = r.id) and not exists (select 1 from public.item_metric x where x.tenant_id = $1 and x.item_id = r.id) and not exists (select 1 from public.redraft x where x.tenant_id = $1 and x.item_id = r.id) and not exists (select 1 from public.article x where x.tenant_id = $1 and x.item_id = r.id) and not exists (select 1 from public.attempt x where x.tenant_id = $1 and x.item_id = r.id) order by deleted_at limit $3'],
    ['engagement', 'select ctid from public.engagement r where tenant_id = $1 and deleted_at < $2 and not exists (select 1 from public.revision x where x.tenant_id = $1 and x.record_id = r.id) and not exists (select 1 from public.attempt x where x.tenant_id = $1 and x.engagement_id = r.id) and not exists (select 1 from public.signal x where x.tenant_id = $1 and x.engagement_id = r.id) order by deleted_at limit $3']])
$$;
revoke execute on function sweep_deleted(uuid, integer) from public;
grant execute on function sweep_deleted(uuid, integer) to tendril_system;

-- Removes the files of a workspace that were noted a day ago and never kept. As sweep_tenant: it
-- takes the row that places the workspace, so that no letter is keeping one of them meanwhile.
create function sweep_files(swept uuid, most integer) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  removed integer;
begin
  perform set_config('app.tenant', swept::text, true);
  perform 1 from public.file where tenant_id = swept and kept_at is null and noted_at < now() - interval '24 hours' limit 1;
  if not found then return false; end if;
  perform 1 from public.actor where tenant_id = swept for no key update;
  delete from public.file where ctid = any(array(select ctid from public.file
    where tenant_id = swept and kept_at is null and noted_at < now() - interval '24 hours' limit most));
  get diagnostics removed = row_count;
  return removed = most;
end $$;
revoke execute on function sweep_files(uuid, integer) from public;
grant execute on function sweep_files(uuid, integer) to tendril_system;

-- Removes that by which expired tokens find their workspace, shares a week after their end, and
-- deleted artifacts with their files: after a week, and at once where the files of the workspace
-- take more than three quarters of the room of its store. As sweep_tenant.
create function sweep_artifacts(swept uuid, most integer) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  since constant timestamptz := now() - interval '7 days';
  kib integer;
  old uuid[];
  files uuid[];
  removed integer;
  more boolean;
begin
  perform set_config('app.tenant', swept::text, true);
  kib := coalesce((select used from public.counter where tenant_id = swept and key = 'files'), 0);
  if not exists (select 1 from public.artifact where tenant_id = swept and deleted_at < case when kib > 786432 then now() else since end)
    and not exists (select 1 from public.artifact_share where tenant_id = swept and least(revoked_at, expires_at) < since)
    and not exists (select 1 from public.inbound_route where tenant_id = swept and expires_at < now())
  then return false; end if;
  perform 1 from public.actor where tenant_id = swept for no key update;
  delete from public.inbound_route where ctid = any(array(select ctid from public.inbound_route
    where tenant_id = swept and expires_at < now() limit most));
  get diagnostics removed = row_count;
  old := array(select id from public.artifact_share where tenant_id = swept and least(revoked_at, expires_at) < since limit most);
  delete from public.inbound_route where tenant_id = swept and kind = 'share' and ref_id = any(old);
  delete from public.artifact_share where tenant_id = swept and id = any(old);
  more := removed = most or cardinality(old) = most;
  -- A GiB in the database, a hundred in S3.
  old := array(select a.id from public.artifact a join public.file f on f.tenant_id = swept and f.id = a.file_id
    where a.tenant_id = swept and a.deleted_at < case when kib > case f.store when 's3' then 78643200 else 786432 end then now() else since end
    limit most);
  files := array(select file_id from public.artifact where tenant_id = swept and id = any(old));
  delete from public.artifact where tenant_id = swept and id = any(old);
  delete from public.file where tenant_id = swept and id = any(files);
  return more or cardinality(old) = most;
end $$;
revoke execute on function sweep_artifacts(uuid, integer) from public;
grant execute on function sweep_artifacts(uuid, integer) to tendril_system;

-- When the next deleted conversation is erased, as sweep_due has it of other rows; null: never.
create function conversations_due(swept uuid) returns timestamptz
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  due timestamptz;
begin
  perform set_config('app.tenant', swept::text, true);
  select min(deleted_at) + interval '30 days' into due from public.agent_conversation where tenant_id = swept and deleted_at is not null;
  return case when due <= now() then now() + interval '1 day' else due end;
end $$;
revoke execute on function conversations_due(uuid) from public;
grant execute on function conversations_due(uuid) to tendril_system;

-- When the next row of a workspace that sleeps is removed by one of the sweeps; null: never. A row
-- that is old enough and still there is in the way of none: what refers to it goes first, or it
-- stays with what names it. Such a workspace is looked at once a day.
create function sweep_due(swept uuid, keep interval, agent_keep interval) returns timestamptz
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- As the sweeps have it.
  kept constant interval := greatest(keep, interval '1 day');
  agent constant interval := greatest(agent_keep, interval '31 days');
  due timestamptz;
begin
  perform set_config('app.tenant', swept::text, true);
  select min(case when at <= now() then now() + interval '1 day' else at end) into due from (values
    ((select min(expires_at) from public.idempotency where tenant_id = swept)),
    ((select min(expires_at) from public.outbox where tenant_id = swept and expires_at is not null)),
    ((select at from public.audit where tenant_id = swept order by id limit 1) + kept),
    ((select min(least(revoked_at, expires_at)) from public.api_key
      where tenant_id = swept and (revoked_at is not null or expires_at is not null)) + kept),
    ((select min(expires_at) from public.invitation where tenant_id = swept) + kept),
    ((select min(updated_at) from public.learning where tenant_id = swept and status = 'retired') + kept),
    ((select min(concluded_at) from public.experiment where tenant_id = swept and status = 'concluded') + kept),
    -- Jobs that a conversation shows stay; their steps and events go.
    ((select min(ended_at) from public.agent_job where tenant_id = swept and ended_at > now() - agent) + agent),
    ((select min(ended_at) from public.agent_job where tenant_id = swept and ended_at is not null and kind not in ('turn', 'channel')) + agent),
    ((select min(at) from public.inbound_event where tenant_id = swept) + interval '30 days'),
    ((select min(last_at) from public.agent_conversation where tenant_id = swept and origin = 'webhook') + agent),
    ((select min(created_at) from public.channel_reply where tenant_id = swept) + agent),
    ((select min(created_at) from public.channel_message where tenant_id = swept) + agent),
    ((select min(noted_at) from public.file where tenant_id = swept and kept_at is null) + interval '24 hours'),
    ((select min(deleted_at) from public.artifact where tenant_id = swept and deleted_at is not null) + interval '7 days'),
    ((select min(least(revoked_at, expires_at)) from public.artifact_share where tenant_id = swept) + interval '7 days'),
    ((select min(expires_at) from public.inbound_route where tenant_id = swept and expires_at is not null)),
    ((select min(until) from public.item_print where tenant_id = swept)),
    ((select min(deleted_at) from public.item where tenant_id = swept and deleted_at is not null) + interval '30 days'),
    ((select min(deleted_at) from public.engagement where tenant_id = swept and deleted_at is not null) + interval '30 days')) as times (at);
  return due;
end $$;
revoke execute on function sweep_due(uuid, interval, interval) from public;
grant execute on function sweep_due(uuid, interval, interval) to tendril_system;
