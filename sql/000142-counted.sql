-- Servers read which migrations the database has by this function alone: the role that they ask with
-- reads no table of the owner's.
revoke select (name) on migration from tendril_system;
create function applied_migrations() returns setof text
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select name from public.migration;
end;
revoke execute on function applied_migrations() from public;
grant execute on function applied_migrations() to tendril_system;

-- Servers count, over all workspaces, what is in doubt and which posts are late, for /metrics.
create policy doubts on attempt for select to tendril_system using (state = 'doubt');
create index attempt_doubt on attempt (intent_at) where state = 'doubt';

create policy sends on work for select to tendril_system using (kind = 'send');
create index work_sends on work (run_at) where kind = 'send';

create index connection_lost on connection (tenant_id) where status = 'disconnected';
create index channel_connection_failing on channel_connection (id) where status = 'failing';
