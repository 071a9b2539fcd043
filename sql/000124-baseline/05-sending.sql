-- What goes out, and what leads to it: engagements with other people's posts, and rules.

-- What people do with somebody else's post: drafted, approved and then done exactly once, as items
-- are.
create table engagement (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  status text not null
    check (status in ('queued', 'generating', 'failed', 'drafted', 'approved', 'executing',
      'executed', 'rejected', 'execute_failed', 'execute_unconfirmed', 'deleted')),
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
  revision integer not null default 1 check (revision > 0),
  written_by jsonb,
  written_at timestamptz,
  decision jsonb,
  deleted_at timestamptz,
  deleted_status text,
  primary key (tenant_id, id),
  constraint engagement_deleted
    check ((status = 'deleted') = (deleted_at is not null)
      and (deleted_at is null) = (deleted_status is null))
);
create index on engagement (tenant_id, status, id);
create index engagement_deleted on engagement (tenant_id, deleted_at) where deleted_at is not null;
-- One of an action on a post at a time, and none after it was done.
create unique index engagement_of_post on engagement (tenant_id, network, post_id, action)
  where status not in ('rejected', 'failed', 'deleted');
-- Engagements are found by the signal that they answer.
create index engagement_of_signal on engagement (tenant_id, signal_id, id)
  where signal_id is not null;
grant select, insert, update, delete on engagement to tendril_app;

-- One row per try to send a post or an engagement, written before the send: what may be out there
-- is always known. A new kind of record adds its name, its column and its indexes here.
create table attempt (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  item_id uuid,
  number integer not null,
  connection_id uuid not null,
  body_sha text not null,
  origin text not null check (origin in ('manual', 'automatic')),
  -- superseded: nobody found out its fate, and a person had the item posted once more. returned:
  -- the network provably never made the post, and the item went back to approved by itself.
  state text not null
    check (state in ('open', 'doubt', 'review', 'posted', 'failed', 'unsent', 'superseded',
      'returned')),
  intent_at timestamptz not null,
  lease_until timestamptz not null,
  doubt_at timestamptz,
  clean_reads integer not null default 0,
  external_id text,
  error text,
  ended_at timestamptz,
  -- The exact text that it sends, written with its claim: what became of it is found out by this
  -- text alone, whatever is done to the record afterwards. Null for likes and reposts, which have
  -- none.
  sent_text text,
  -- why the fate of the send is open
  doubt_cause text
    check (doubt_cause in ('server_error', 'no_answer', 'unclear_answer', 'process_stopped')),
  -- From then on a complete read that does not show the post counts as proof that it was never
  -- made: the network has answered with an error, and promises that nothing is applied later. Null:
  -- only a hit or a person decides.
  returns_from timestamptz,
  proof_reads integer not null default 0 check (proof_reads >= 0),
  engagement_id uuid,
  sendable text not null check (sendable in ('post', 'engagement')),
  -- the last reads of the timeline while it was in doubt, oldest first
  reads jsonb not null default '[]',
  foreign key (tenant_id, connection_id) references connection (tenant_id, id),
  foreign key (tenant_id, engagement_id) references engagement (tenant_id, id),
  foreign key (tenant_id, item_id) references item (tenant_id, id),
  constraint attempt_of_its_kind
    check ((sendable = 'post') = (item_id is not null)
      and (sendable = 'engagement') = (engagement_id is not null)),
  constraint attempt_returned check (state <> 'returned' or sendable = 'post')
);
-- The attempts of a record are numbered, and one of them is open at most.
create unique index attempt_number_of_item on attempt (tenant_id, item_id, number)
  where item_id is not null;
create unique index attempt_number_of_engagement on attempt (tenant_id, engagement_id, number)
  where engagement_id is not null;
create unique index attempt_open_of_item on attempt (tenant_id, item_id)
  where item_id is not null and state in ('open', 'doubt', 'review');
create unique index attempt_open_of_engagement on attempt (tenant_id, engagement_id)
  where engagement_id is not null and state in ('open', 'doubt', 'review');
-- An account has one post of a text in doubt at most, and a post belongs to one item. Neither holds
-- for engagements: the same thanks go to several people, and a like and a repost share the id of
-- the post that they are about.
create unique index attempt_same_text on attempt (tenant_id, connection_id, body_sha)
  where item_id is not null and state in ('open', 'doubt', 'review');
create unique index attempt_post on attempt (tenant_id, connection_id, external_id)
  where item_id is not null and external_id is not null;
create index on attempt (tenant_id, connection_id, external_id);
grant select, insert, update, delete on attempt to tendril_app;

-- What is known of a send in doubt. A function, because a subquery is prepared with every statement
-- that reads items, with the three tables it names, and hardly any item is in doubt. It runs with
-- the rights of its caller. A read that is due or running counts as due now; while everything
-- unattended is held, only manual reads take place.
create function item_doubt(item uuid, review boolean) returns jsonb
language sql stable begin atomic
  select jsonb_build_object('cause', coalesce(a.doubt_cause, 'no_answer'),
      'resolves', case when a.returns_from is null or item_doubt.review then 'by_person' else 'by_itself' end,
      'next_read_at', (select greatest(w.run_at, now()) from work w join actor on true
        where w.kind = 'reconcile' and w.ref_id = item_doubt.item and (w.origin = 'manual' or not actor.paused)))
    from attempt a where a.item_id = item_doubt.item and a.state in ('doubt', 'review');
end;
revoke execute on function item_doubt(uuid, boolean) from public;
grant execute on function item_doubt(uuid, boolean) to tendril_app;

-- Whose posts are watched for what is worth answering. Each active one has a row of work, which
-- says when it is read next.
create table target (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  handle text not null,
  category text,
  priority integer not null check (priority between 1 and 3),
  status text not null check (status in ('active', 'paused')),
  last_read_at timestamptz,
  failures integer not null default 0 check (failures >= 0),
  last_error text,
  reads integer not null default 0 check (reads >= 0),
  reads_micros bigint not null default 0 check (reads_micros >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, handle),
  unique (tenant_id, id)
);
grant select, insert, update, delete on target to tendril_app;

-- A post of a target that may be worth answering. What is over is kept for a while, so that it is
-- not found anew.
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
  foreign key (tenant_id, engagement_id) references engagement (tenant_id, id)
);
create index on signal (tenant_id, status, score, id);
create index on signal (tenant_id, id);
-- Signals that are over are forgotten after a while, the oldest first.
create index signal_forgotten on signal (tenant_id, updated_at)
  where status in ('dismissed', 'expired');
grant select, insert, update, delete on signal to tendril_app;

-- Automation rules: when something happens and conditions hold, something is drafted.
create table rule (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  name text not null,
  -- what a person has made it; that all automation is paused stands elsewhere
  status text not null check (status in ('active', 'paused')),
  trigger jsonb not null,
  conditions jsonb not null default '[]',
  action jsonb not null,
  daily_cap integer not null check (daily_cap between 1 and 50),
  -- the day in UTC, the runs that have acted on it, and the occurrences that the cap has kept from
  -- running
  day text not null default '',
  used integer not null default 0 check (used >= 0),
  over integer not null default 0 check (over >= 0),
  last_run_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, id)
);
grant select, insert, update, delete on rule to tendril_app;

-- See tenant.awaited.
create function note_awaited() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare tenant uuid := case tg_op when 'DELETE' then old.tenant_id else new.tenant_id end;
begin
  update public.tenant t set awaited = array(
    select distinct r.trigger->>'kind' from public.rule r where r.tenant_id = tenant and r.status = 'active' order by 1)
    where t.id = tenant;
  return null;
end $$;
revoke execute on function note_awaited() from public;
create trigger rule_set after insert or delete on rule for each row execute function note_awaited();
create trigger rule_changed after update on rule
  for each row when (old.status <> new.status or old.trigger <> new.trigger)
  execute function note_awaited();

-- One for each rule and occurrence, written in the commit of the occurrence.
create table rule_run (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  rule_id uuid not null,
  trigger text not null
    check (trigger in ('cron', 'item_posted', 'batch_settled', 'metric', 'signal')),
  -- the id of what it happened to, or the time of a pattern
  occurrence text not null,
  -- the rules by which it came to that, the first one first
  chain jsonb not null default '[]',
  status text not null
    check (status in ('queued', 'running', 'done', 'skipped', 'failed', 'cancelled')),
  reason text,
  conditions jsonb not null default '[]',
  made_kind text,
  made_id uuid,
  quota text,
  units integer not null default 0 check (units >= 0),
  cost_micros integer,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  unique (tenant_id, rule_id, trigger, occurrence)
);
create index on rule_run (tenant_id, id);
create index on rule_run (tenant_id, rule_id, id);
create index on rule_run (tenant_id, made_id) where made_id is not null;
create index on rule_run (tenant_id, status) where status in ('queued', 'running');
-- Runs that have made nothing are forgotten after a while.
create index rule_run_forgotten on rule_run (tenant_id, ended_at) where made_id is null;
grant select, insert, update, delete on rule_run to tendril_app;

-- What a workspace has the residents of the sandbox say. They are not posts of sandbox.posts, which
-- holds what was truly sent; the network reads these rows, and shows them to the accounts of their
-- workspace alone. A row is written with the command that asks for it, so that a repeated command
-- says it once.
create table resident_post (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  -- the network's id
  post_id text not null,
  resident text not null,
  text text not null,
  in_reply_to text,
  created_at timestamptz not null,
  primary key (tenant_id, id),
  unique (tenant_id, post_id)
);
create index on resident_post (tenant_id, created_at, post_id);
create index on resident_post (tenant_id, in_reply_to) where in_reply_to is not null;
create policy sandbox on resident_post for select to tendril_sandbox using (true);
grant select, insert, delete on resident_post to tendril_app;
grant select on resident_post to tendril_sandbox;
