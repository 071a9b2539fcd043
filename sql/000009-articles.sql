-- An article is a generation of its own; its text is an item, which goes out as one long post.
alter table item add column title text;

create table article (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  status text not null check (status in ('queued', 'generating', 'ready', 'failed')),
  error text,
  topic text not null,
  length text not null check (length in ('short', 'medium', 'long')),
  outline text,
  title text,
  item_id uuid,
  model text,
  usage jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, id),
  unique (tenant_id, item_id),
  foreign key (tenant_id, item_id) references item (tenant_id, id)
);
alter table article enable row level security;
alter table article force row level security;
create policy app on article to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on article to tendril_app;
