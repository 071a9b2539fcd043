-- Workspaces, the people in them, and how they sign in.

-- The mark by which a database knows its TENDRIL_SECRET_KEY again. One row.
create table deployment (
  single boolean primary key default true check (single),
  canary bytea not null,
  -- names the roles that the pools log in as, so that no two databases of a cluster share them:
  -- src/store/engine/logins.ts
  id uuid not null default gen_random_uuid(),
  -- How long rows are kept. If a server is started with other settings, sweep_at of each actor no
  -- longer holds.
  retention text
);

-- tendril_system reads no row of the deployment itself, which holds what the secret is compared
-- with.
create function retention_differs(kept text) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as
$$ select exists (select 1 from public.deployment where retention is distinct from kept) $$;
revoke execute on function retention_differs(text) from public;
grant execute on function retention_differs(text) to tendril_system;

create function note_retention(kept text) returns void
language sql security definer set search_path = pg_catalog, pg_temp as
$$ update public.deployment set retention = kept $$;
revoke execute on function note_retention(text) from public;
grant execute on function note_retention(text) to tendril_system;

-- Workspaces. Everything else hangs on one of these.
create table tenant (
  id uuid primary key,
  name text not null,
  plan text not null,
  -- ok, or why costly actions are blocked
  billing text not null default 'ok'
    check (billing in ('ok', 'billing_suspended', 'trial_expired', 'grace_period_ended',
      'plan_expired')),
  overrides jsonb not null default '{}',
  created_at timestamptz not null default now(),
  -- A workspace that its owner has deleted is kept until then, and the deletion can be taken back.
  -- Afterwards it is erased, some rows at a time.
  deletes_at timestamptz,
  -- What every letter asks of the webhook and of the rules stands in the tenant's row, which its
  -- gate reads anyway: a look into either table costs each gate as much as the row's lock. Triggers
  -- keep both, with the rights of whoever changes a webhook or a rule.
  webhook text[],
  awaited text[] not null default '{}',
  -- how often in a row its erasure has failed for reasons of its own
  erasure_failures integer not null default 0,
  -- others have their turn until then; null unless it has failed
  erasure_rests_until timestamptz,
  -- why it failed last
  erasure_error text
);
comment on column tenant.awaited is 'kinds of occurrences that active rules wait for';
comment on column tenant.webhook is
  'event types that the active webhook wants, empty for all; null without one';
create index on tenant (deletes_at) where deletes_at is not null;
alter table tenant enable row level security, force row level security;
create policy app on tenant for select to tendril_app
  using (id = (select nullif(current_setting('app.tenant', true), '')::uuid));
create policy rename on tenant for update to tendril_app
  using (id = (select nullif(current_setting('app.tenant', true), '')::uuid));
create policy system on tenant to tendril_system using (true) with check (true);
grant select, update (name, deletes_at, webhook, awaited) on tenant to tendril_app;
grant select, insert, update, delete on tenant to tendril_system;

-- A person exists beside all workspaces; what a workspace may see of people is its own members.
--
-- Typing an email address proves nothing about whose it is, and neither does an invitation that a
-- workspace made: only a link that the operator of the deployment printed for this very address
-- does, or one that was delivered to it by mail. An address that is not proven may stand on several
-- accounts, which their passwords tell apart, so that nobody keeps its owner out by being first. Of
-- the accounts whose address is proven, one has it.
create table person (
  id uuid primary key,
  email text,
  -- the email by which it is found: equal for all ways of writing it
  email_key text,
  name text not null,
  -- argon2id
  password_hash text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- null: since the account was made
  email_since timestamptz,
  email_verified_at timestamptz,
  -- the address that somebody else has proven to be theirs; only while there is none
  former_email text,
  check ((email is null) = (email_key is null)),
  check (email is not null or email_verified_at is null),
  check (email is null or former_email is null)
);
create index on person (email_key);
create unique index person_email_key_idx1 on person (email_key) where email_verified_at is not null;
alter table person enable row level security, force row level security;
create policy system on person to tendril_system using (true) with check (true);
grant select (id, email, email_key, name, created_at, updated_at, email_since, email_verified_at,
  former_email)
  on person to tendril_app;
grant select, insert, update, delete on person to tendril_system;

-- What a person is to a workspace.
create table member (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid
    references tenant,
  person_id uuid not null references person,
  role text not null check (role in ('owner', 'editor', 'approver', 'viewer')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, person_id)
);
create index on member (person_id);
create policy system on member to tendril_system using (true) with check (true);
grant select, insert, delete, update (role, updated_at) on member to tendril_app;
grant select, insert, update, delete on member to tendril_system;

create policy app on person for select to tendril_app
  using (exists (select 1 from member m where m.person_id = person.id));

-- A session goes on by refreshing: each time the generation grows, and only the token of the newest
-- one is good.
create table session (
  id uuid primary key,
  -- the workspace at which it works now
  tenant_id uuid not null references tenant,
  person_id uuid not null references person,
  kind text not null check (kind in ('browser', 'command_line')),
  generation integer not null default 1,
  user_agent text,
  address text,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  -- When its person last gave the password in a session: what outlasts a session of the command
  -- line asks for it again. A device that is let in takes it over from the session that decided.
  -- Null in old rows.
  password_at timestamptz
);
create index on session (person_id, id);
create index on session (tenant_id);
create index on session (expires_at);
create policy system on session to tendril_system using (true) with check (true);
grant select, update (revoked_at) on session to tendril_app;
grant select, insert, update, delete on session to tendril_system;

-- Links by which people join a workspace.
create table invitation (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid
    references tenant,
  -- null: whoever has the link says who they are
  email text,
  role text not null check (role in ('owner', 'editor', 'approver', 'viewer')),
  -- SHA-256
  token_hash bytea not null unique,
  -- null: the operator
  invited_by uuid references person,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  accepted_by uuid references person,
  revoked_at timestamptz,
  -- whoever comes by its link has shown that the address is theirs
  proves_email boolean not null default false,
  check (email is not null or not proves_email)
);
create index on invitation (tenant_id, id);
create index on invitation (invited_by) where invited_by is not null;
create index on invitation (accepted_by) where accepted_by is not null;
create index invitation_expiry on invitation (tenant_id, expires_at);
create policy system on invitation to tendril_system using (true) with check (true);
grant select, insert, update (revoked_at) on invitation to tendril_app;
grant select, insert, update, delete on invitation to tendril_system;

-- Keys of a workspace and of its members.
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
  last_used_at timestamptz,
  -- null: the workspace's own. Otherwise it can do no more than this member, and ends with the
  -- membership.
  person_id uuid references person
);
create index on api_key (tenant_id, id);
create index on api_key (person_id) where person_id is not null;
-- By this the sweep finds what is over, without a look at the rest.
create index api_key_ended on api_key (tenant_id, (least(revoked_at, expires_at)))
  where revoked_at is not null or expires_at is not null;
create policy system on api_key to tendril_system using (true) with check (true);
grant select, insert, update (revoked_at) on api_key to tendril_app;
grant select, insert, update, delete on api_key to tendril_system;

-- Links by which people whose password is lost choose another. One a person: printing another makes
-- the one before it void.
create table person_reset (
  person_id uuid primary key references person on delete cascade,
  -- SHA-256
  token_hash bytea not null unique,
  -- what the link proves
  email text not null,
  email_key text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index on person_reset (expires_at);
alter table person_reset enable row level security, force row level security;
create policy system on person_reset to tendril_system using (true) with check (true);
grant select, insert, update, delete on person_reset to tendril_system;

-- How often something was tried within a window: passwords, codes. One row a counter; what is over
-- is replaced or swept.
create table throttle (
  -- SHA-256 of what is counted, in base64
  key text primary key,
  used integer not null,
  until timestamptz not null
);
create index on throttle (until);
alter table throttle enable row level security, force row level security;
create policy system on throttle to tendril_system using (true) with check (true);
grant select, insert, update, delete on throttle to tendril_system;

-- Requests of devices to be let in by a person (RFC 8628). Of no workspace until somebody decides,
-- and gone soon after they end.
create table device_grant (
  id uuid primary key,
  -- SHA-256, both
  device_code_hash bytea not null unique,
  user_code_hash bytea not null unique,
  client_id text not null,
  device_name text not null,
  address text not null,
  -- API scopes, or `session` alone
  scopes text[] not null,
  -- seconds that the device has to leave between two polls
  poll_every integer not null,
  polled_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  decision text check (decision in ('approve', 'deny')),
  decided_at timestamptz,
  decided_by uuid references person on delete cascade,
  -- the workspace in which it was decided, and in which the device acts
  decided_in uuid references tenant on delete cascade,
  -- what the approving person may give of the scopes asked for
  granted text[],
  issued_at timestamptz,
  password_at timestamptz,
  check ((decision is null) = (decided_by is null) and (decision is null) = (decided_in is null)),
  check (issued_at is null or decision is not null)
);
create index on device_grant (expires_at);
create index on device_grant (decided_by);
create index on device_grant (decided_in);
alter table device_grant enable row level security, force row level security;
create policy system on device_grant to tendril_system using (true) with check (true);
grant select, insert, update, delete on device_grant to tendril_system;
