-- What posts are made of, and the posts themselves.

-- What the agent knows about the business; profile_revision has the earlier versions.
create table profile (
  tenant_id uuid primary key default nullif(current_setting('app.tenant', true), '')::uuid,
  data jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- counts its versions
  revision integer not null default 1 check (revision > 0),
  -- who wrote it, as {kind, id}; null: unknown
  written_by jsonb,
  -- the fields and lists that differ from the version before
  changed text[] not null default '{}'
);
grant select, insert, update, delete on profile to tendril_app;

-- Earlier versions of the profile. The present one stands in the profile itself.
create table profile_revision (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  number integer not null check (number > 0),
  data jsonb not null,
  written_by jsonb,
  written_at timestamptz not null,
  changed text[] not null default '{}',
  primary key (tenant_id, number)
);
grant select, insert, delete on profile_revision to tendril_app;

-- What a workspace offers, and what posts may mention of it.
create table product (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  name text not null,
  one_liner text not null,
  url text,
  status text not null check (status in ('active', 'archived')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index on product (tenant_id, id);
create unique index product_tenant_id_lower_idx on product (tenant_id, lower(name))
  where status = 'active';
grant select, insert, update, delete on product to tendril_app;

-- An analytics audit is a generation; `audit` is who has done what. Given: numbers that came with
-- the request.
create table growth_audit (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  status text not null check (status in ('queued', 'generating', 'ready', 'failed')),
  error text,
  days integer not null check (days > 0),
  source text not null check (source in ('synced', 'given')),
  given jsonb,
  result jsonb,
  model text,
  usage jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, id)
);
grant select, insert, update, delete on growth_audit to tendril_app;

-- What a workspace has learned about its posts.
create table learning (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  kind text not null check (kind in ('worked', 'flopped', 'hypothesis')),
  note text not null,
  status text not null check (status in ('active', 'retired')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- What an audit has found out names its evidence: ids of items.
  audit_id uuid,
  evidence jsonb not null default '[]',
  -- added by a job that had read text of people outside the workspace
  untrusted boolean not null default false,
  foreign key (tenant_id, audit_id) references growth_audit (tenant_id, id)
);
create index on learning (tenant_id, status, id);
-- Learnings are listed whatever their state.
create index on learning (tenant_id, id);
create index learning_retired on learning (tenant_id, updated_at) where status = 'retired';
grant select, insert, update, delete on learning to tendril_app;

-- A group of posts with rules for their form and times of their own.
create table growth_channel (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  name text not null,
  status text not null check (status in ('active', 'inactive')),
  format_rules jsonb not null default '{}',
  cadence jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, name)
);
grant select, insert, update, delete on growth_channel to tendril_app;

-- The channels that a workspace starts with. Nothing drafts threads yet. Their ids are of version 7
-- and in this order.
create function start_channels(started uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  before text := current_setting('app.tenant', true);
begin
  perform set_config('app.tenant', started::text, true);
  insert into public.growth_channel (id, tenant_id, name, status, cadence, created_at, updated_at)
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing
      substring(int8send((extract(epoch from now()) * 1000)::bigint + position) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid,
    started, name, status, cadence, now(), now()
  from (values
    (1, 'posts', 'active', '{"days": ["mon", "tue", "wed", "thu", "fri"], "times": ["09:00", "17:00"]}'::jsonb),
    (2, 'threads', 'inactive', '{}'),
    (3, 'articles', 'active', '{"days": ["tue", "thu"], "times": ["12:00"]}'),
    (4, 'replies', 'active', '{}')) as start (position, name, status, cadence)
  on conflict (tenant_id, name) do nothing;
  perform set_config('app.tenant', coalesce(before, ''), true);
end $$;
revoke execute on function start_channels(uuid) from public;
grant execute on function start_channels(uuid) to tendril_system;

-- Accounts on the network. external_id is the network's own and survives reconnecting.
create table connection (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  network text not null,
  external_id text not null,
  handle text not null,
  status text not null check (status in ('connected', 'disconnected')),
  is_default boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, id),
  unique (tenant_id, network, external_id)
);
grant select, insert, update, delete on connection to tendril_app;

-- Two or more ways of writing, tried against each other: the first arm is the control.
create table experiment (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  name text not null,
  hypothesis text not null,
  metric text not null
    check (metric in ('engagement_rate', 'impressions', 'likes', 'replies', 'reposts', 'clicks')),
  -- in their order: name and note
  arms jsonb not null,
  status text not null check (status in ('running', 'concluded')),
  result text,
  -- what was computed when it was concluded, and how many items there were of each arm
  comparison jsonb,
  tally jsonb,
  concluded_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, id),
  check ((status = 'concluded') = (concluded_at is not null))
);
create index on experiment (tenant_id, status, id);
create index experiment_concluded on experiment (tenant_id, concluded_at)
  where status = 'concluded';
grant select, insert, update, delete on experiment to tendril_app;

-- Posts that are drafted together.
create table batch (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  status text not null check (status in ('queued', 'generating', 'ready', 'failed')),
  error text,
  focus text not null,
  requested integer not null,
  delivered integer not null default 0,
  model text,
  usage jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- the experiment over whose arms its items are divided
  experiment_id uuid,
  -- why it is ready with fewer posts than were asked for: how many of how many, and the reason;
  -- null in old rows too, of which nobody kept it
  shortfall text,
  unique (tenant_id, id),
  foreign key (tenant_id, experiment_id) references experiment (tenant_id, id)
);
create index on batch (tenant_id, experiment_id) where experiment_id is not null;
grant select, insert, update, delete on batch to tendril_app;

-- A post or an article, from its draft to what became of it. Each change of its state adds an entry
-- to each index, so there are no more of them than lists need.
create table item (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  batch_id uuid,
  kind text not null check (kind in ('post', 'article')),
  status text not null
    check (status in ('drafted', 'approved', 'publishing', 'posted', 'rejected', 'publish_failed',
      'publish_unconfirmed', 'deleted')),
  review boolean not null default false,
  body text not null,
  format text not null,
  hook text not null,
  rationale text not null,
  stories jsonb not null,
  learnings jsonb not null,
  length integer not null,
  post_at timestamptz,
  on_missed text check (on_missed in ('post', 'skip')),
  -- what the approval is bound to: a hash over body, attachments and account
  approved_hash text,
  account_external_id text,
  reject_reason text,
  external_id text,
  url text,
  posted_at timestamptz,
  last_error text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- an article's
  title text,
  -- The post whose text this draft takes up again. No foreign key to its own table: a workspace is
  -- erased some rows at a time.
  resurfaced_from uuid,
  -- when the network was last asked what it counts, whether or not a number had changed
  metrics_at timestamptz,
  experiment_id uuid,
  arm text,
  -- The newest row of item_metric: a subquery for it is prepared with every statement that reads
  -- items, though most are not posted yet. A trigger keeps it, with the rights of whoever inserts a
  -- reading.
  metrics jsonb,
  tags text[] not null default '{}',
  note text,
  -- the time it was scheduled for when it last became a draft again
  proposed_at timestamptz,
  -- counts versions of the text
  revision integer not null default 1 check (revision > 0),
  -- who wrote the present text, as {kind, id}; null: a drafter
  written_by jsonb,
  -- when; null: as the item was made
  written_at timestamptz,
  -- the account that a person chose; null: whichever is the default at its approval
  account_id uuid,
  -- the last decision on it, as {what, by: {kind, id}, at}
  decision jsonb,
  deleted_at timestamptz,
  -- its state when it was deleted
  deleted_status text,
  -- of its text, by which a nearly equal one is found: src/domain/growth/drafting/prints.ts
  prints integer[],
  -- the time that counts for its state: lists are limited and sorted by it
  at timestamptz not null generated always as (case
    when status = 'posted' then coalesce(posted_at, created_at)
    when post_at is not null then post_at
    else created_at
  end) stored,
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references connection (tenant_id, id),
  foreign key (tenant_id, batch_id) references batch (tenant_id, id),
  foreign key (tenant_id, experiment_id) references experiment (tenant_id, id),
  check ((experiment_id is null) = (arm is null)),
  constraint item_deleted
    check ((status = 'deleted') = (deleted_at is not null)
      and (deleted_at is null) = (deleted_status is null))
);
comment on column item.metrics is 'the newest row of item_metric, without its ids';
create index on item (tenant_id, resurfaced_from) where resurfaced_from is not null;
create index on item (tenant_id, experiment_id) where experiment_id is not null;
-- The counts by opening read the opening beside the state.
create index item_status on item (tenant_id, status, id) include (hook);
create index item_deleted on item (tenant_id, deleted_at) where deleted_at is not null;
-- Posts that people made by hand are known by their ids on the network, as those of attempts are.
create index item_external on item (tenant_id, account_external_id, external_id)
  where external_id is not null;
create index item_time on item (tenant_id, status, at, id);
create index item_batch on item (tenant_id, batch_id, id) where batch_id is not null;
-- The calendar: what is on it, and what has been.
create index item_scheduled on item (tenant_id, post_at, id) where post_at is not null;
create index item_posted on item (tenant_id, posted_at, id) where status = 'posted';
-- Lists by the time of creation, and by account.
create index item_created on item (tenant_id, status, created_at, id);
create index item_sender on item (tenant_id, account_external_id, id);
-- Accounts that people choose, before an approval binds one.
create index item_chosen on item (tenant_id, account_id, id) where account_id is not null;
-- Articles are few beside posts, so lists of them must not walk the posts.
create index item_article on item (tenant_id, status, id) where kind = 'article';
grant select, insert, update, delete on item to tendril_app;

-- The words of items, by which lists find them: those of the text and the note, and each tag with #
-- before it. Lower case, in one form of letters. Like document_word, a table: `@@` is not
-- leakproof, so Postgres uses no GIN index under row-level security. No foreign key: its check
-- would cost more than the insert. The words of a deleted item go with its deletion.
create table item_word (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  word text collate "C" not null,
  item_id uuid not null,
  -- Words stand on a shelf for the state of their item: posted, rejected, or open, which is every
  -- other state. So a list of a state and a word is one scan of an index, however many items have
  -- either. Open states share a shelf: an item passes through several of them, and each move to
  -- another shelf writes all of its words anew.
  shelf text not null default 'open' check (shelf in ('open', 'posted', 'rejected')),
  -- what counts for a posted or rejected item; those of open ones change too often
  at timestamptz,
  primary key (tenant_id, word, shelf, item_id),
  check ((shelf = 'open') = (at is null))
);
create index item_word_item on item_word (tenant_id, item_id);
create index item_word_time on item_word (tenant_id, word, shelf, at, item_id) where at is not null;
grant select, insert, update, delete on item_word to tendril_app;

-- Whatever changes an item moves its words, in the same transaction and without a statement of its
-- own.
create function move_words() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if new.status in ('posted', 'rejected') then
    update public.item_word set shelf = new.status, at = new.at where tenant_id = new.tenant_id and item_id = new.id;
  else
    update public.item_word set shelf = 'open', at = null where tenant_id = new.tenant_id and item_id = new.id;
  end if;
  return null;
end $$;
revoke execute on function move_words() from public;
create trigger words_moved after update on item for each row
  when ((old.status in ('posted', 'rejected') or new.status in ('posted', 'rejected'))
    and (old.status, old.at) is distinct from (new.status, new.at))
  execute function move_words();

-- Prints of the texts of items that are approved, scheduled or posted:
-- src/domain/growth/drafting/prints.ts.
create table item_print (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  print integer not null,
  item_id uuid not null,
  -- until when a text like it is worth a warning
  until timestamptz not null,
  primary key (tenant_id, print, item_id)
);
create index on item_print (tenant_id, until);
grant select, insert, update, delete on item_print to tendril_app;

-- What the network says of a posted item, read again and again: numbers only grow old, and none is
-- overwritten.
create table item_metric (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  item_id uuid not null,
  at timestamptz not null,
  impressions integer not null check (impressions >= 0),
  likes integer not null check (likes >= 0),
  replies integer not null check (replies >= 0),
  reposts integer not null check (reposts >= 0),
  quotes integer not null check (quotes >= 0),
  clicks integer not null check (clicks >= 0),
  primary key (tenant_id, id),
  unique (tenant_id, item_id, at),
  foreign key (tenant_id, item_id) references item (tenant_id, id)
);
grant select, insert, delete on item_metric to tendril_app;

-- See item.metrics.
create function note_metrics() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
begin
  update public.item i set metrics = to_jsonb(new) - array['id', 'tenant_id', 'item_id']
    where i.tenant_id = new.tenant_id and i.id = new.item_id and (i.metrics is null or (i.metrics->>'at')::timestamptz <= new.at);
  return null;
end $$;
revoke execute on function note_metrics() from public;
create trigger metrics_noted after insert on item_metric
  for each row execute function note_metrics();

-- Earlier texts of items and engagements. The present one stands in the record itself.
create table revision (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  -- an item or an engagement, whose erasure removes these rows
  record_id uuid not null,
  number integer not null check (number > 0),
  title text,
  -- null: an engagement's, before it had one
  body text,
  written_by jsonb,
  written_at timestamptz not null,
  primary key (tenant_id, record_id, number)
);
grant select, insert, delete on revision to tendril_app;

-- What a team says of an item. The reason of a rejection is one.
create table comment (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  item_id uuid not null,
  kind text not null check (kind in ('comment', 'rejection')),
  body text not null,
  written_by jsonb not null,
  created_at timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, item_id) references item (tenant_id, id) on delete cascade
);
create index on comment (tenant_id, item_id, id);
grant select, insert, delete on comment to tendril_app;

-- A draft that is written again, as its text and a hint ask. The text that comes of it is a
-- revision of the item.
create table redraft (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  item_id uuid not null,
  -- the version of the item's text that it was asked for; it changes no other
  revision integer not null check (revision > 0),
  hint text not null,
  status text not null check (status in ('queued', 'generating', 'ready', 'failed')),
  error text,
  model text,
  usage jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, item_id) references item (tenant_id, id) on delete cascade
);
create index redraft_of_item on redraft (tenant_id, item_id, id);
grant select, insert, update, delete on redraft to tendril_app;

-- An article while it is made; its text is an item, which goes out as one long post.
create table article (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  status text not null check (status in ('queued', 'generating', 'ready', 'failed')),
  error text,
  topic text not null,
  length text not null check (length in ('short', 'medium', 'long')),
  outline text,
  title text,
  item_id uuid,
  model text,
  usage jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, id),
  unique (tenant_id, item_id),
  foreign key (tenant_id, item_id) references item (tenant_id, id)
);
grant select, insert, update, delete on article to tendril_app;

-- A report on a week that begins on this Monday, on the clocks of the time zone.
create table report (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  status text not null check (status in ('queued', 'generating', 'ready', 'failed')),
  error text,
  origin text not null check (origin in ('manual', 'automatic')),
  week text not null,
  time_zone text not null,
  data jsonb,
  markdown text,
  model text,
  usage jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, id)
);
-- By itself a week is reported once.
create unique index report_week on report (tenant_id, week) where origin = 'automatic';
grant select, insert, update, delete on report to tendril_app;
