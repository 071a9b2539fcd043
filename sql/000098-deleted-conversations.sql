-- A conversation that was deleted is shown to nobody, and erased after 30 days with all that was made of it. Its thread in a channel is free
-- for the next one at once.
alter table agent_conversation add column deleted_at timestamptz;
create index agent_conversation_deleted on agent_conversation (tenant_id, deleted_at) where deleted_at is not null;
create index agent_approval_conversation on agent_approval (tenant_id, conversation_id) where conversation_id is not null;

-- What was made of conversations that were deleted 30 days ago goes first, so many rows at a time, and each conversation once nothing of it
-- is left. Approvals outlive their jobs, and replies and messages of channels are found by theirs. Artifacts, memories and schedules are the
-- workspace's, and stay.
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

-- When the next of them is erased, as sweep_due has it of other rows; null: never.
create function conversations_due(swept uuid) returns timestamptz
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  due timestamptz;
begin
  perform set_config('app.tenant', swept::text, true);
  select min(deleted_at) + interval '30 days' into due from public.agent_conversation where tenant_id = swept and deleted_at is not null;
  return case when due <= now() then now() + interval '1 day' else due end;
end $$;

revoke execute on function sweep_conversations(uuid, integer) from public;
revoke execute on function conversations_due(uuid) from public;
grant execute on function sweep_conversations(uuid, integer) to tendril_system;
grant execute on function conversations_due(uuid) to tendril_system;
