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

-- What people do with somebody else's post: drafted, approved and then done exactly once, as items are.
create table engagement (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  status text not null check (status in ('queued', 'generating', 'failed', 'drafted', 'approved', 'executing', 'executed', 'rejected',
    'execute_failed', 'execute_unconfirmed')),
  action text not null check (action in ('reply', 'quote', 'repost', 'like')),
  review boolean not null default false,
  network text not null,
  post_id text not null,
  post_url text,
  post_author text,
  post_text text,
  addresses_us boolean not null default false,
  instruction text,
  body text,
  rationale text,
  signal_id uuid,
  error text,
  model text,
  usage jsonb,
  approved_hash text,
  account_external_id text,
  reject_reason text,
  external_id text,
  url text,
  executed_at timestamptz,
  last_error text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, id)
);
create index on engagement (tenant_id, status, id);
-- One of an action on a post at a time, and none after it was done.
create unique index engagement_of_post on engagement (tenant_id, network, post_id, action) where status not in ('rejected', 'failed');

create table engagement_attempt (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  engagement_id uuid not null,
  number integer not null,
  connection_id uuid not null,
  body_sha text not null,
  origin text not null check (origin in ('manual', 'automatic')),
  state text not null check (state in ('open', 'doubt', 'review', 'posted', 'failed', 'unsent', 'superseded')),
  intent_at timestamptz not null,
  lease_until timestamptz not null,
  doubt_at timestamptz,
  clean_reads integer not null default 0,
  external_id text,
  error text,
  ended_at timestamptz,
  unique (tenant_id, engagement_id, number),
  foreign key (tenant_id, engagement_id) references engagement (tenant_id, id),
  foreign key (tenant_id, connection_id) references connection (tenant_id, id)
);
create unique index engagement_attempt_open on engagement_attempt (tenant_id, engagement_id) where state in ('open', 'doubt', 'review');
create index on engagement_attempt (tenant_id, connection_id, external_id);

do $$
declare
  name text;
begin
  foreach name in array array['engagement', 'engagement_attempt'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy app on %I to tendril_app
      using (tenant_id = (select nullif(current_setting(''app.tenant'', true), '''')::uuid))
      with check (tenant_id = (select nullif(current_setting(''app.tenant'', true), '''')::uuid))', name);
  end loop;
end $$;
grant select, insert, update, delete on engagement, engagement_attempt to tendril_app;

-- Whose posts are watched for what is worth answering. Each active one has a row of work, which says when it is read next.
create table target (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  handle text not null,
  category text,
  priority integer not null check (priority between 1 and 3),
  status text not null check (status in ('active', 'paused')),
  last_read_at timestamptz,
  failures integer not null default 0,
  last_error text,
  reads integer not null default 0,
  reads_micros bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, id),
  unique (tenant_id, handle)
);

-- A post of a target that may be worth answering. What is over is kept for a while, so that it is not found anew.
create table signal (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  target_id uuid not null,
  network text not null,
  post_id text not null,
  post_url text,
  post_author text,
  post_text text,
  addresses_us boolean not null,
  posted_at timestamptz not null,
  score integer not null check (score between 0 and 100),
  reasons jsonb not null,
  status text not null check (status in ('open', 'dismissed', 'engaged', 'expired')),
  engagement_id uuid,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, network, post_id),
  foreign key (tenant_id, target_id) references target (tenant_id, id),
  foreign key (tenant_id, engagement_id) references engagement (tenant_id, id)
);
create index on signal (tenant_id, status, score, id);
create index on signal (tenant_id, id);

do $$
declare
  name text;
begin
  foreach name in array array['target', 'signal'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy app on %I to tendril_app
      using (tenant_id = (select nullif(current_setting(''app.tenant'', true), '''')::uuid))
      with check (tenant_id = (select nullif(current_setting(''app.tenant'', true), '''')::uuid))', name);
  end loop;
end $$;
grant select, insert, update, delete on target, signal to tendril_app;
