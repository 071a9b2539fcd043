-- Events out: where a workspace wants to be told, and what became of each event.

-- One endpoint a workspace. `id` is made anew whenever the endpoint is set, so that what an earlier one answers does not count.
create table webhook_endpoint (
  tenant_id uuid primary key default nullif(current_setting('app.tenant', true), '')::uuid,
  id uuid not null,
  url text not null,
  -- kinds of events; none: all of them
  events text[] not null default '{}',
  -- AES-256-GCM, bound to the workspace
  secret bytea not null,
  -- signs beside the other one while receivers change over
  previous_secret bytea,
  previous_until timestamptz,
  status text not null check (status in ('active', 'disabled')),
  disabled_reason text,
  -- since when nothing has succeeded, and how often it was tried
  failing_since timestamptz,
  failures integer not null default 0,
  -- the receiver asked to be left alone until then
  held_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((previous_secret is null) = (previous_until is null))
) with (fillfactor = 70);

alter table webhook_endpoint enable row level security;
alter table webhook_endpoint force row level security;
create policy app on webhook_endpoint to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update on webhook_endpoint to tendril_app;

-- unwanted: no endpoint asked for it; pending: to be sent at next_at, in order within its subject; dead: given up.
-- What is over is kept until expires_at, to be looked at and sent again. What a letter writes that nobody wants is over at once.
alter table outbox
  add column state text not null default 'unwanted' check (state in ('unwanted', 'pending', 'delivered', 'dead')),
  add column subject text,
  add column attempts integer not null default 0,
  add column next_at timestamptz,
  add column last_error text,
  add column expires_at timestamptz default now() + interval '24 hours',
  add check ((state = 'pending') = (next_at is not null)),
  add check (state <> 'pending' or expires_at is null);

-- Nothing asks for the events of a workspace in the order of their ids. Few wait at a time, and each letter pays for indexes.
drop index outbox_tenant_id_id_idx;
create index outbox_order on outbox (tenant_id, subject, created_at, id) where state = 'pending';
create index outbox_expiry on outbox (tenant_id, expires_at) where expires_at is not null;
