-- Earlier versions of the profile. The present one stands in the profile itself.
alter table profile
  add column revision integer not null default 1 check (revision > 0),
  -- who wrote it, as {kind, id}; null: unknown
  add column written_by jsonb,
  -- the fields and lists that differ from the version before
  add column changed text[] not null default '{}';

create table profile_revision (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  number integer not null check (number > 0),
  data jsonb not null,
  written_by jsonb,
  written_at timestamptz not null,
  changed text[] not null default '{}',
  primary key (tenant_id, number)
);
alter table profile_revision enable row level security;
alter table profile_revision force row level security;
create policy app on profile_revision to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, delete on profile_revision to tendril_app;
