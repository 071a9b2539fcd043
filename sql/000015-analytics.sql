-- When the network was last asked what it counts of a posted item, whether or not a number had changed.
alter table item add column metrics_at timestamptz;
create index item_measured on item (tenant_id, posted_at) where external_id is not null;

-- An analytics audit is a generation; `audit` is who has done what. Given: numbers that came with the request.
create table growth_audit (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  status text not null check (status in ('queued', 'generating', 'ready', 'failed')),
  error text,
  days integer not null,
  source text not null check (source in ('synced', 'given')),
  given jsonb,
  result jsonb,
  model text,
  usage jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, id)
);
alter table growth_audit enable row level security;
alter table growth_audit force row level security;
create policy app on growth_audit to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on growth_audit to tendril_app;

-- What an audit has found out is a learning that names its evidence: ids of items.
alter table learning add column audit_id uuid;
alter table learning add column evidence jsonb not null default '[]';
alter table learning add foreign key (tenant_id, audit_id) references growth_audit (tenant_id, id);

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
alter table report enable row level security;
alter table report force row level security;
create policy app on report to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on report to tendril_app;
