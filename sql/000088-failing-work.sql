-- Operators see which rows of work fail, in whichever workspace: nothing else of them, and no others.
create index work_failing on work (id) where failures > 0;
create policy failing on work for select to tendril_system using (failures > 0);
grant select (id, tenant_id, kind, ref_id, state, run_at, failures, due_at) on work to tendril_system;
