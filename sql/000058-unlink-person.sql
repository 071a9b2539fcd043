-- Ends the links of channels' senders to a person who has left these workspaces, and the person's unused codes. Each workspace is named to the
-- policies of the tables, which bind the owner of the tables too.
create function unlink_person(gone uuid, places uuid[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  place uuid;
begin
  foreach place in array places
  loop
    perform set_config('app.tenant', place::text, true);
    delete from public.channel_identity where tenant_id = place and person_id = gone;
    delete from public.channel_link_code where tenant_id = place and person_id = gone;
  end loop;
end $$;

revoke execute on function unlink_person(uuid, uuid[]) from public;
grant execute on function unlink_person(uuid, uuid[]) to tendril_system;
