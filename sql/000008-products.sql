-- Learnings are listed whatever their state.
create index on learning (tenant_id, id);

-- What a workspace offers, and what posts may mention of it.
create table product (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  name text not null,
  one_liner text not null,
  url text,
  status text not null check (status in ('active', 'archived')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index on product (tenant_id, id);
create unique index on product (tenant_id, lower(name)) where status = 'active';

alter table product enable row level security;
alter table product force row level security;
create policy app on product to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update on product to tendril_app;
