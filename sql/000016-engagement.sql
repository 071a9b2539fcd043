-- The sandbox has others in it: posts may answer or quote one, and accounts may like and repost. What an account did goes with it.
alter table sandbox.posts add column in_reply_to text, add column quoted text;
create index posts_replies on sandbox.posts (in_reply_to) where in_reply_to is not null;
create index posts_quotes on sandbox.posts (quoted) where quoted is not null;

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

-- What is applied late may be such an action; null: an ordinary post.
alter table sandbox.delayed add column action text check (action in ('reply', 'quote', 'repost', 'like')), add column post_id text;
