-- People, what they are to which workspace, and how they sign in. A person exists beside all workspaces; what a workspace may see
-- of people is its own members.

create table person (
  id uuid primary key,
  email text not null,
  -- the email by which it is found: equal for all ways of writing it
  email_key text not null unique,
  name text not null,
  -- argon2id
  password_hash text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table member (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid references tenant,
  person_id uuid not null references person,
  role text not null check (role in ('owner', 'editor', 'approver', 'viewer')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, person_id)
);
create index on member (person_id);

-- A session goes on by refreshing: each time the generation grows, and only the token of the newest one is good.
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
  revoked_at timestamptz
);
create index on session (person_id, id);
create index on session (tenant_id);
create index on session (expires_at);

create table invitation (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid references tenant,
  -- none: whoever has the link says who they are
  email text,
  role text not null check (role in ('owner', 'editor', 'approver', 'viewer')),
  -- SHA-256
  token_hash bytea not null unique,
  -- none: the operator's
  invited_by uuid references person,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  accepted_by uuid references person,
  revoked_at timestamptz
);
create index on invitation (tenant_id, id);

-- How often something was tried within a window: passwords, codes. One row a counter; what is over is replaced or swept.
create table throttle (
  -- SHA-256 of what is counted, in base64
  key text primary key,
  used integer not null,
  until timestamptz not null
);
create index on throttle (until);

-- None: the workspace's own. Else it may no more than this member, and dies with the membership.
alter table api_key add column person_id uuid references person;

do $$
declare name text;
begin
  foreach name in array array['member', 'session', 'invitation'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format($policy$create policy app on %I to tendril_app
      using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
      with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))$policy$, name);
    execute format('create policy system on %I to tendril_system using (true) with check (true)', name);
  end loop;
end $$;

alter table person enable row level security;
alter table person force row level security;
create policy app on person for select to tendril_app using (exists (select 1 from member m where m.person_id = person.id));
create policy system on person to tendril_system using (true) with check (true);

alter table throttle enable row level security;
alter table throttle force row level security;
create policy system on throttle to tendril_system using (true) with check (true);

create policy rename on tenant for update to tendril_app using (id = (select nullif(current_setting('app.tenant', true), '')::uuid));

-- Whoever signs in, and by what, is told in the workspace's own audit.
create policy system on audit for insert to tendril_system with check (true);

grant select on session to tendril_app;
grant select (id, email, email_key, name, created_at, updated_at) on person to tendril_app;
grant update (revoked_at) on session to tendril_app;
grant select, insert, update (role, updated_at), delete on member to tendril_app;
grant select, insert, update (revoked_at) on invitation to tendril_app;
grant insert, update (revoked_at) on api_key to tendril_app;
grant update (name) on tenant to tendril_app;
grant select, insert, update, delete on person, member, session, invitation, throttle to tendril_system;
grant insert on audit to tendril_system;
