-- The rotation of the secret key: which keys take or took part in one, by their fingerprints. Empty
-- until the first rotation. deployment.canary is always the mark of the new one.
-- src/kernel/secret-keys.ts says what the states mean.
create table secret_key (
  fingerprint text primary key check (fingerprint ~ '^[0-9a-f]{16}$'),
  state text not null check (state in ('old', 'new', 'dropped')),
  -- since when it is in this state
  since timestamptz not null default now(),
  -- of the new one: no process has made anything under another key since
  settled_at timestamptz check (settled_at is null or state = 'new'),
  -- of the new one: all that was sealed under other keys has been sealed under this one
  sealed_at timestamptz check (sealed_at is null or state = 'new')
);
create unique index secret_key_new on secret_key (state) where state = 'new';
create unique index secret_key_old on secret_key (state) where state = 'old';
-- Not forced: its owner, who rotates the key, writes it.
alter table secret_key enable row level security;
create policy system on secret_key for select to tendril_system using (true);
grant select on secret_key to tendril_system;

-- The fingerprints of the keys that a process knows, of the one that it makes new values under and
-- since when, and of the one that the logins of its pools come from, if they do.
alter table node add column secret_keys text[] not null default '{}';
alter table node add column seals_with text;
alter table node add column seals_since timestamptz;
alter table node add column login_key text;
