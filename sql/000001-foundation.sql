-- Tenancy, placement of tenants on processes, work rows, and the growth core.
--
-- Roles: the server's pools connect as tendril_app (data of one tenant at a time) or tendril_system (placement and keys).
-- Neither can log in, owns a table or bypasses a policy. Roles belong to the whole cluster, so another database of it may
-- be creating them at this moment.
do $$
declare name text;
begin
  foreach name in array array['tendril_app', 'tendril_system'] loop
    if not exists (select from pg_roles where rolname = name) then
      begin
        execute format('create role %I nologin nobypassrls', name);
      exception when duplicate_object or unique_violation then null;
      end;
    end if;
    if not pg_has_role(current_user, name, 'member') or not (select rolsuper from pg_roles where rolname = current_user) then
      execute format('grant %I to %I', name, current_user);
    end if;
  end loop;
end $$;

-- Workspaces. Everything else hangs on one of these.
create table tenant (
  id uuid primary key,
  name text not null,
  plan text not null,
  -- null, or why costly actions are blocked
  billing text not null default 'ok' check (billing in ('ok', 'billing_suspended', 'trial_expired', 'grace_period_ended', 'plan_expired')),
  overrides jsonb not null default '{}',
  created_at timestamptz not null default now()
);

create table api_key (
  id uuid primary key,
  tenant_id uuid not null references tenant,
  name text not null,
  hash bytea not null unique,
  last4 text not null,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index on api_key (tenant_id, id);

-- One row per server process. A process is alive while its row has not expired and its session advisory lock is held.
create table node (
  incarnation uuid primary key,
  lock_key bigint not null,
  url text not null,
  started_at timestamptz not null default now(),
  expires_at timestamptz not null
);

-- One row per tenant: which process owns it (the fence), when it must be awake, and the kill switch.
create table actor (
  tenant_id uuid primary key references tenant,
  owner uuid,
  epoch bigint not null default 0,
  wake_at timestamptz,
  paused boolean not null default false
) with (fillfactor = 70);
create index actor_wake on actor (wake_at) where wake_at is not null;
create index actor_owner on actor (owner) where owner is not null;

-- Work that outlives its command: the durable mailbox. A row is deleted by the letter that settles it.
create table work (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  lane text not null check (lane in ('generation', 'agent', 'publish', 'sync', 'ingest', 'delivery')),
  kind text not null,
  ref_id uuid not null,
  origin text not null check (origin in ('manual', 'automatic')),
  state text not null default 'queued' check (state in ('queued', 'running')),
  run_at timestamptz not null,
  attempt integer not null default 0,
  claimed_by uuid,
  lease_until timestamptz,
  payload jsonb not null default '{}',
  created_at timestamptz not null default now(),
  unique (tenant_id, kind, ref_id)
) with (fillfactor = 70);
create index work_due on work (tenant_id, run_at);

-- The mark by which a database knows its TENDRIL_SECRET_KEY again. One row.
create table deployment (
  single boolean primary key default true check (single),
  canary bytea not null
);

create table idempotency (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  key text not null check (length(key) between 1 and 200),
  operation text not null,
  fingerprint text not null,
  -- pending: the answer is still to come from the work on this record; done: status and body replay
  state text not null check (state in ('pending', 'done')),
  ref_id uuid,
  status integer,
  body text,
  expires_at timestamptz not null,
  primary key (tenant_id, key)
);
create index idempotency_expiry on idempotency (tenant_id, expires_at);
create index idempotency_pending on idempotency (tenant_id, ref_id) where state = 'pending';

create table counter (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  key text not null,
  period text not null,
  used integer not null,
  primary key (tenant_id, key)
) with (fillfactor = 70);

create table audit (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  at timestamptz not null,
  actor_kind text not null,
  actor_id text not null,
  surface text not null,
  operation text not null,
  ref_id uuid,
  request_id text,
  detail jsonb not null default '{}'
);
create index on audit (tenant_id, id);

-- Events on their way to the tenant's webhook endpoint.
create table outbox (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  type text not null,
  data jsonb not null,
  created_at timestamptz not null
);
create index on outbox (tenant_id, id);

create table profile (
  tenant_id uuid primary key default nullif(current_setting('app.tenant', true), '')::uuid,
  data jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table growth_channel (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  name text not null,
  status text not null check (status in ('active', 'inactive')),
  format_rules jsonb not null default '{}',
  cadence jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, name)
);

create table learning (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  kind text not null check (kind in ('worked', 'flopped', 'hypothesis')),
  note text not null,
  status text not null check (status in ('active', 'retired')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index on learning (tenant_id, status, id);

-- Accounts on the network. external_id is the network's own and survives reconnecting.
create table connection (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  network text not null,
  external_id text not null,
  handle text not null,
  status text not null check (status in ('connected', 'disconnected')),
  is_default boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, network, external_id)
);
create index on connection (tenant_id, id);

create table batch (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  status text not null check (status in ('queued', 'generating', 'ready', 'failed')),
  error text,
  focus text not null,
  requested integer not null,
  delivered integer not null default 0,
  model text,
  usage jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index on batch (tenant_id, id);

create table item (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  batch_id uuid references batch,
  kind text not null check (kind in ('post', 'article')),
  status text not null check (status in
    ('drafted', 'approved', 'publishing', 'posted', 'rejected', 'publish_failed', 'publish_unconfirmed')),
  review boolean not null default false,
  body text not null,
  format text not null,
  hook text not null,
  rationale text not null,
  stories jsonb not null,
  learnings jsonb not null,
  length integer not null,
  post_at timestamptz,
  on_missed text check (on_missed in ('post', 'skip')),
  -- what the approval is bound to: a hash over body, attachments and account
  approved_hash text,
  account_external_id text,
  reject_reason text,
  external_id text,
  url text,
  posted_at timestamptz,
  last_error text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index on item (tenant_id, id);
create index on item (tenant_id, status, id);
create index on item (tenant_id, batch_id);

-- One row per try to post an item, written before the send: what may be out there is always known.
create table attempt (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  item_id uuid not null references item,
  number integer not null,
  connection_id uuid not null references connection,
  body_sha text not null,
  origin text not null check (origin in ('manual', 'automatic')),
  state text not null check (state in ('open', 'doubt', 'review', 'posted', 'failed', 'unsent')),
  intent_at timestamptz not null,
  lease_until timestamptz not null,
  doubt_at timestamptz,
  clean_reads integer not null default 0,
  external_id text,
  error text,
  ended_at timestamptz,
  unique (tenant_id, item_id, number),
  unique (tenant_id, connection_id, external_id)
);
create unique index attempt_open on attempt (tenant_id, item_id) where state in ('open', 'doubt', 'review');
create unique index attempt_same_text on attempt (tenant_id, connection_id, body_sha) where state in ('open', 'doubt', 'review');

-- Row-level security. A statement that names no tenant sees nothing.
do $$
declare name text;
begin
  foreach name in array array['api_key', 'actor', 'work', 'idempotency', 'counter', 'audit', 'outbox', 'profile',
                              'growth_channel', 'learning', 'connection', 'batch', 'item', 'attempt'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format($policy$create policy app on %I to tendril_app
      using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
      with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))$policy$, name);
  end loop;
end $$;
alter table tenant enable row level security;
alter table tenant force row level security;
create policy app on tenant for select to tendril_app using (id = (select nullif(current_setting('app.tenant', true), '')::uuid));
alter table node enable row level security;
alter table node force row level security;

create policy system on tenant to tendril_system using (true) with check (true);
create policy system on api_key to tendril_system using (true) with check (true);
create policy system on node to tendril_system using (true) with check (true);
create policy system on actor to tendril_system using (true) with check (true);

grant select on tenant, api_key to tendril_app;
grant select, update (wake_at, paused) on actor to tendril_app;
grant select, insert, update, delete on work, idempotency, counter, profile, growth_channel, learning, connection, batch, item, attempt
  to tendril_app;
grant select, insert on audit to tendril_app;
grant select, insert, update, delete on outbox to tendril_app;
grant select, insert, update, delete on tenant, api_key, node, actor to tendril_system;
