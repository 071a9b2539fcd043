-- Whose an email address is. Typing one proves nothing, and neither does an invitation that a workspace made: only a link that the
-- operator of the deployment printed for this very address does, or one that was delivered to it by mail.
--
-- An address that is not proven may stand on several accounts, which their passwords tell apart, so that nobody keeps its owner
-- out by being first. Of the accounts whose address is proven, one has it.

alter table person
  alter column email drop not null,
  alter column email_key drop not null,
  -- none: since the account was made
  add column email_since timestamptz,
  add column email_verified_at timestamptz,
  -- the address that somebody else has proven to be theirs; only while there is none
  add column former_email text,
  add check ((email is null) = (email_key is null)),
  add check (email is not null or email_verified_at is null),
  add check (email is null or former_email is null);
alter table person drop constraint person_email_key_key;
create index on person (email_key);
create unique index on person (email_key) where email_verified_at is not null;

grant select (email_since, email_verified_at, former_email) on person to tendril_app;

-- Addresses are compared in the compatibility form from now on. Policies bind the owner of the table too, so they rest meanwhile.
alter table person no force row level security;
update person set email_key = lower(normalize(email_key, NFKC)) where email_key is not NFKC normalized;
alter table person force row level security;

-- Whether who comes by its link has shown that the address is theirs.
alter table invitation add column proves_email boolean not null default false check (email is not null or not proves_email);

-- Links by which people whose password is lost choose another. One a person: printing another makes the one before it void.
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

alter table person_reset enable row level security;
alter table person_reset force row level security;
create policy system on person_reset to tendril_system using (true) with check (true);
grant select, insert, update, delete on person_reset to tendril_system;
