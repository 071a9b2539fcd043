-- The schema of the first version whose databases later ones migrate. All files of this folder are
-- one migration. What changes after it comes in files of its own beside the folder.
--
-- Every table with a tenant_id holds rows of workspaces, and 11-isolation.sql hides them from every
-- other workspace. Its indexes begin with the tenant: each statement names one, by the policy. A
-- foreign key that contains the tenant also keeps a record from referring to another workspace's.

-- The server's pools act as tendril_app (rows of one workspace at a time), tendril_system
-- (placement, people and keys) or tendril_sandbox (the sandbox network alone). None can log in, owns
-- a table or bypasses a policy. Roles belong to the whole cluster, so another database of it may be
-- making or granting them at this moment.
do $$
declare name text;
begin
  foreach name in array array['tendril_app', 'tendril_system', 'tendril_sandbox'] loop
    if not exists (select from pg_roles where rolname = name) then
      begin
        execute format('create role %I nologin nobypassrls', name);
      exception when duplicate_object or unique_violation then null;
      end;
    end if;
    begin
      if not pg_has_role(current_user, name, 'member')
        or not (select rolsuper from pg_roles where rolname = current_user) then
        execute format('grant %I to %I', name, current_user);
      end if;
    exception when unique_violation then null;
    end;
  end loop;
end $$;
