-- Two or more ways of writing, tried against each other: the first arm is the control.
create table experiment (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  name text not null,
  hypothesis text not null,
  metric text not null check (metric in ('engagement_rate', 'impressions', 'likes', 'replies', 'reposts', 'clicks')),
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
alter table experiment enable row level security;
alter table experiment force row level security;
create policy app on experiment to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on experiment to tendril_app;

-- A batch may be drafted for an experiment: its items are divided over the arms.
alter table batch add column experiment_id uuid,
  add foreign key (tenant_id, experiment_id) references experiment (tenant_id, id);
alter table item add column experiment_id uuid, add column arm text,
  add foreign key (tenant_id, experiment_id) references experiment (tenant_id, id),
  add check ((experiment_id is null) = (arm is null));
create index on batch (tenant_id, experiment_id) where experiment_id is not null;
create index on item (tenant_id, experiment_id) where experiment_id is not null;
