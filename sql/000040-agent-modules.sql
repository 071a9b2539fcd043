-- Where else a workspace wants a module of tools: without a row, nowhere beyond what is always offered.
create table agent_module (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  name text not null,
  mcp boolean not null,
  set_by uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, name)
) with (fillfactor = 80);
alter table agent_module enable row level security;
alter table agent_module force row level security;
create policy app on agent_module to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on agent_module to tendril_app;
