-- Accounts of networks whose owners grant access on a page of the network. Each row is one such
-- sign-in: a person began it, and only that person can end it.
create table account_authorization (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  person_id uuid not null,
  network text not null,
  -- what the person asked for
  handle text,
  service text,
  is_default boolean,
  status text not null check (status in ('pending', 'connected', 'refused')),
  -- why nothing was connected, for people
  reason text,
  connection_id uuid,
  -- of what the network sends back with the person, once they were led there
  state_hash bytea,
  -- sealed: what proves that we began it; then the session, until the account has it
  secrets bytea,
  -- when the person came back
  used_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  unique (tenant_id, id),
  foreign key (tenant_id, person_id) references member (tenant_id, person_id) on delete cascade,
  check ((status = 'connected') = (connection_id is not null)),
  check ((status = 'refused') = (reason is not null))
);
create index on account_authorization (tenant_id, person_id);
create index on account_authorization (tenant_id, expires_at);
alter table account_authorization enable row level security, force row level security;
create policy app on account_authorization to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on account_authorization to tendril_app;
-- A person comes back to whichever workspace their browser is in, and only once.
create policy system on account_authorization to tendril_system using (true) with check (true);
grant select (id, tenant_id, person_id, network, handle, service, is_default, status, state_hash,
  secrets, used_at, expires_at) on account_authorization to tendril_system;
grant update (state_hash, secrets, used_at) on account_authorization to tendril_system;

-- Secrets of the deployment that outlive its secret key, sealed: by which networks know it.
create table deployment_secret (
  name text primary key,
  sealed bytea not null,
  created_at timestamptz not null default clock_timestamp()
);
alter table deployment_secret enable row level security, force row level security;
create policy system on deployment_secret to tendril_system using (true) with check (true);
grant select, insert, update on deployment_secret to tendril_system;
