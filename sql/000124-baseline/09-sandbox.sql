-- The sandbox network: a world of its own that happens to live in our database. Only the role
-- tendril_sandbox writes here, and only erasing a workspace removes anything, so that what stands in
-- sandbox.posts is what truly went out.
create schema sandbox;
grant usage on schema sandbox to tendril_sandbox;

-- Ids look like a real network's: milliseconds since 2010-11-04 in the high bits, a counter in the
-- low 22. As decimal text of 19 digits they sort by time.
create sequence sandbox.id_tail as bigint maxvalue 4194303 cycle minvalue 0;
grant usage on sequence sandbox.id_tail to tendril_sandbox;

create function sandbox.next_id() returns text language sql volatile as $$
  select ((((extract(epoch from clock_timestamp()) * 1000)::bigint - 1288834974657) << 22) | nextval('sandbox.id_tail'))::text
$$;
revoke execute on function sandbox.next_id() from public;
grant execute on function sandbox.next_id() to tendril_sandbox;

-- Accounts are the network's own: no foreign key leads to our tables.
create table sandbox.accounts (
  id text primary key default sandbox.next_id(),
  handle text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- An account belongs to one workspace: elsewhere the same handle is another account. Null: nobody
  -- has connected it.
  workspace_id uuid
);
-- By handle, because targets are read by theirs.
create unique index accounts_handle on sandbox.accounts (lower(handle), workspace_id);
create index accounts_workspace on sandbox.accounts (workspace_id);
grant select, insert, update on sandbox.accounts to tendril_sandbox;

-- What was posted. Posts may answer or quote another one.
create table sandbox.posts (
  id text primary key default sandbox.next_id(),
  account_id text not null references sandbox.accounts,
  text text not null,
  created_at timestamptz not null default clock_timestamp(),
  in_reply_to text,
  quoted text
);
create index posts_timeline on sandbox.posts (account_id, created_at);
create index posts_replies on sandbox.posts (in_reply_to) where in_reply_to is not null;
create index posts_quotes on sandbox.posts (quoted) where quoted is not null;
grant select, insert on sandbox.posts to tendril_sandbox;

-- Likes and reposts. What an account did goes with it.
create table sandbox.reactions (
  account_id text not null references sandbox.accounts on delete cascade,
  -- not a foreign key: posts of the residents are no rows
  post_id text not null,
  kind text not null check (kind in ('like', 'repost')),
  created_at timestamptz not null default clock_timestamp(),
  primary key (post_id, kind, account_id)
);
create index reactions_account on sandbox.reactions (account_id);
grant select, insert on sandbox.reactions to tendril_sandbox;

-- Posts that the network accepted but will apply later than its caller waits.
create table sandbox.delayed (
  id text primary key default sandbox.next_id(),
  account_id text not null references sandbox.accounts,
  text text not null,
  apply_at timestamptz not null,
  -- what an engagement does; null: an ordinary post
  action text check (action in ('reply', 'quote', 'repost', 'like')),
  post_id text
);
create index delayed_due on sandbox.delayed (apply_at);
grant select, insert, update, delete on sandbox.delayed to tendril_sandbox;
