-- A draft that is written again, as its text and a hint ask. The text that comes of it is a revision of the item.
create table redraft (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  item_id uuid not null,
  -- the version of the item's text that it was asked for; it changes no other
  revision integer not null check (revision > 0),
  hint text not null,
  status text not null check (status in ('queued', 'generating', 'ready', 'failed')),
  error text,
  model text,
  usage jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, item_id) references item (tenant_id, id) on delete cascade
);
create index redraft_of_item on redraft (tenant_id, item_id, id);
alter table redraft enable row level security;
alter table redraft force row level security;
create policy app on redraft to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on redraft to tendril_app;
