-- What a workspace tells its agent to do, in versions of which one is active.
create table playbook (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  slug text not null,
  name text not null,
  description text,
  -- its active version stands in the prompt of every job
  pinned boolean not null default false,
  status text not null check (status in ('active', 'archived')),
  unique (tenant_id, slug),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 80);
alter table playbook enable row level security;
alter table playbook force row level security;
create policy app on playbook to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on playbook to tendril_app;

create table playbook_version (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  playbook_id uuid not null,
  number integer not null,
  content text not null,
  rationale text,
  state text not null check (state in ('draft', 'active', 'retired', 'rejected')),
  -- who wrote it: a person, a key, or a job
  author jsonb not null,
  -- a draft of a job that had read text of people outside the workspace
  untrusted boolean not null default false,
  decided_by jsonb,
  decided_at timestamptz,
  check ((decided_by is null) = (decided_at is null)),
  foreign key (tenant_id, playbook_id) references playbook on delete cascade,
  unique (tenant_id, playbook_id, number),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 80);
create unique index playbook_version_active on playbook_version (tenant_id, playbook_id) where state = 'active';
alter table playbook_version enable row level security;
alter table playbook_version force row level security;
create policy app on playbook_version to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on playbook_version to tendril_app;
