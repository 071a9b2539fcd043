-- What a workspace has the residents of the sandbox say. They are not posts of sandbox.posts, which holds what was truly sent; the network
-- reads these rows, and shows them to the accounts of their workspace alone. A row is written with the command that asks for it, so that a
-- repeated command says it once.
create table resident_post (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  -- the network's id
  post_id text not null,
  resident text not null,
  text text not null,
  in_reply_to text,
  created_at timestamptz not null,
  primary key (tenant_id, id),
  unique (tenant_id, post_id)
);
create index on resident_post (tenant_id, created_at, post_id);
create index on resident_post (tenant_id, in_reply_to) where in_reply_to is not null;
alter table resident_post enable row level security;
alter table resident_post force row level security;
create policy app on resident_post to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
create policy sandbox on resident_post for select to tendril_sandbox using (true);
grant select, insert, delete on resident_post to tendril_app;
grant select on resident_post to tendril_sandbox;
