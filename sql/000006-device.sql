-- Requests of devices to be let in by a person (RFC 8628). Of no workspace until somebody decides, and gone soon after they end.

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
  check ((decision is null) = (decided_by is null) and (decision is null) = (decided_in is null)),
  check (issued_at is null or decision is not null)
);
create index on device_grant (expires_at);
create index on device_grant (decided_by);
create index on device_grant (decided_in);

alter table device_grant enable row level security;
alter table device_grant force row level security;
create policy system on device_grant to tendril_system using (true) with check (true);
grant select, insert, update, delete on device_grant to tendril_system;
