-- A statement that names no workspace sees no row of any; one that names a workspace sees its rows
-- alone. Policies bind the owner of the tables as well. The cast stands in a subquery so that a
-- statement evaluates it once.
do $$
declare name regclass;
begin
  for name in
    select c.oid::regclass from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by c.relname
  loop
    execute format('alter table %s enable row level security, force row level security', name);
    execute format($policy$create policy app on %s to tendril_app
      using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
      with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
      $policy$, name);
  end loop;
end $$;
