-- What channels brought and were sent before `kept_since`, which is never less than 31 days ago: replies that go out no more, and messages
-- whose jobs are over. The conversations show what was said for longer.
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

-- What goes with a connection, and the talk with one sender.
create index on channel_message (tenant_id, connection_id, id);
