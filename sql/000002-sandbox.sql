-- The sandbox network: a world of its own that happens to live in our database. Only the role tendril_sandbox writes here,
-- so that what stands in sandbox.posts is what truly went out. It belongs to no tenant: accounts are the network's own.
--
-- Roles belong to the whole cluster, so another database of it may be creating or granting this one at this moment.
do $$
begin
  if not exists (select from pg_roles where rolname = 'tendril_sandbox') then
    begin
      create role tendril_sandbox nologin nobypassrls;
    exception when duplicate_object or unique_violation then null;
    end;
  end if;
  begin
    grant tendril_sandbox to current_user;
  exception when unique_violation then null;
  end;
end $$;

create schema sandbox;

-- Ids look like a real network's: milliseconds since 2010-11-04 in the high bits, a counter in the low 22. As decimal text
-- of 19 digits they sort by time.
create sequence sandbox.id_tail as bigint maxvalue 4194303 cycle minvalue 0;
create function sandbox.next_id() returns text language sql volatile as $$
  select ((((extract(epoch from clock_timestamp()) * 1000)::bigint - 1288834974657) << 22) | nextval('sandbox.id_tail'))::text
$$;

create table sandbox.accounts (
  id text primary key default sandbox.next_id(),
  handle text not null,
  created_at timestamptz not null default clock_timestamp()
);
create unique index accounts_handle on sandbox.accounts (lower(handle));

create table sandbox.posts (
  id text primary key default sandbox.next_id(),
  account_id text not null references sandbox.accounts,
  text text not null,
  created_at timestamptz not null default clock_timestamp()
);
create index posts_timeline on sandbox.posts (account_id, created_at);

-- Posts that the network accepted but will apply later than its caller waits.
create table sandbox.delayed (
  id text primary key default sandbox.next_id(),
  account_id text not null references sandbox.accounts,
  text text not null,
  apply_at timestamptz not null
);
create index delayed_due on sandbox.delayed (apply_at);

revoke execute on function sandbox.next_id() from public;
grant usage on schema sandbox to tendril_sandbox;
grant execute on function sandbox.next_id() to tendril_sandbox;
grant usage on sequence sandbox.id_tail to tendril_sandbox;
grant select, insert, update on sandbox.accounts to tendril_sandbox;
grant select, insert on sandbox.posts to tendril_sandbox;
grant select, insert, update, delete on sandbox.delayed to tendril_sandbox;
