-- Content that people own: they write it, change it, take it back and say what they think of it.
alter table item
  add column tags text[] not null default '{}',
  add column note text,
  -- the time it was scheduled for when it last became a draft again
  add column proposed_at timestamptz,
  -- counts versions of the text
  add column revision integer not null default 1 check (revision > 0),
  -- who wrote the present text, as {kind, id}; null: a drafter
  add column written_by jsonb,
  -- when; null: as the item was made
  add column written_at timestamptz,
  -- the account that a person chose for it; null: whichever is the default at its approval
  add column account_id uuid,
  -- the last decision on it, as {what, by: {kind, id}, at}
  add column decision jsonb,
  add column deleted_at timestamptz,
  -- its state when it was deleted
  add column deleted_status text,
  add foreign key (tenant_id, account_id) references connection (tenant_id, id),
  drop constraint item_status_check,
  add constraint item_status_check check (status in
    ('drafted', 'approved', 'publishing', 'posted', 'rejected', 'publish_failed', 'publish_unconfirmed', 'deleted')),
  add constraint item_deleted check ((status = 'deleted') = (deleted_at is not null) and (deleted_at is null) = (deleted_status is null));
create index item_deleted on item (tenant_id, deleted_at) where deleted_at is not null;

alter table engagement
  add column revision integer not null default 1 check (revision > 0),
  add column written_by jsonb,
  add column written_at timestamptz,
  add column decision jsonb,
  add column deleted_at timestamptz,
  add column deleted_status text,
  drop constraint engagement_status_check,
  add constraint engagement_status_check check (status in
    ('queued', 'generating', 'failed', 'drafted', 'approved', 'executing', 'executed', 'rejected', 'execute_failed', 'execute_unconfirmed',
     'deleted')),
  add constraint engagement_deleted check ((status = 'deleted') = (deleted_at is not null) and (deleted_at is null) = (deleted_status is null));
create index engagement_deleted on engagement (tenant_id, deleted_at) where deleted_at is not null;
drop index engagement_of_post;
create unique index engagement_of_post on engagement (tenant_id, network, post_id, action) where status not in ('rejected', 'failed', 'deleted');

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
alter table revision enable row level security;
alter table revision force row level security;
create policy app on revision to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
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
alter table comment enable row level security;
alter table comment force row level security;
create policy app on comment to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, delete on comment to tendril_app;

-- What was done to a record, newest first.
create index audit_of_record on audit (tenant_id, ref_id, id) where ref_id is not null;
