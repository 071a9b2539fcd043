-- Whether something of a workspace was deleted so long ago that it is erased. The sweeps of deleted
-- records plan a statement for each table anew at each call, which took most of a sweep; a
-- connection plans this once.
create function has_long_deleted(swept uuid) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  since constant timestamptz := now() - interval '30 days';
begin
  perform set_config('app.tenant', swept::text, true);
  return exists (select from public.item where tenant_id = swept and deleted_at < since)
    or exists (select from public.engagement where tenant_id = swept and deleted_at < since)
    or exists (select from public.agent_conversation where tenant_id = swept and deleted_at < since);
end $$;
revoke execute on function has_long_deleted(uuid) from public;
grant execute on function has_long_deleted(uuid) to tendril_system;
