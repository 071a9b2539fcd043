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
  -- the day in UTC, the runs that have acted on it, and the occurrences that the cap has kept from running
  day text not null default '',
  used integer not null default 0,
  over integer not null default 0,
  last_run_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, id)
);

-- One for each rule and occurrence, written in the commit of the occurrence.
create table rule_run (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  rule_id uuid not null,
  trigger text not null,
  -- the id of what it happened to, or the time of a pattern
  occurrence text not null,
  -- the rules by which it came to that, the first one first
  chain jsonb not null default '[]',
  status text not null check (status in ('queued', 'running', 'done', 'skipped', 'failed', 'cancelled')),
  reason text,
  conditions jsonb not null default '[]',
  made_kind text,
  made_id uuid,
  quota text,
  units integer not null default 0,
  cost_micros integer,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  unique (tenant_id, rule_id, trigger, occurrence),
  foreign key (tenant_id, rule_id) references rule (tenant_id, id)
);
create index on rule_run (tenant_id, id);
create index on rule_run (tenant_id, rule_id, id);
create index on rule_run (tenant_id, made_id) where made_id is not null;
create index on rule_run (tenant_id, status) where status in ('queued', 'running');
-- Runs that have made nothing are forgotten after a while.
create index rule_run_forgotten on rule_run (tenant_id, ended_at) where made_id is null;

-- The post whose text a draft takes up again. No foreign key to its own table: a workspace is erased some rows at a time.
alter table item add column resurfaced_from uuid;
create index on item (tenant_id, resurfaced_from) where resurfaced_from is not null;
create index on item (tenant_id, posted_at) where status = 'posted';

do $$
declare name text;
begin
  foreach name in array array['rule', 'rule_run'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format($policy$create policy app on %I to tendril_app
      using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
      with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))$policy$, name);
  end loop;
end $$;
grant select, insert, update on rule to tendril_app;
grant select, insert, update, delete on rule_run to tendril_app;
