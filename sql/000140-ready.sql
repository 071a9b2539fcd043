-- Servers ask for the migrations of the database while they run, to say whether they are ready. They
-- do so by this function alone: the role that they ask with reads no table of the owner's.
create function applied_migrations() returns setof text
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select name from public.migration;
end;
revoke execute on function applied_migrations() from public;
grant execute on function applied_migrations() to tendril_system;
