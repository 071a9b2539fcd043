-- Goals that the agent works on by itself, at a time or by a pattern.
create table agent_schedule (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  goal text not null,
  -- the tools that its runs may use; null: those of its caller
  tools jsonb,
  -- where its runs speak; without a foreign key, as the next: both may be gone before it
  conversation_id uuid,
  -- when it runs once, or the pattern by which it runs
  at timestamptz,
  pattern text,
  time_zone text not null,
  status text not null check (status in ('active', 'paused', 'cancelled', 'done')),
  paused_by text check (paused_by in ('person', 'failures', 'caller_gone')),
  next_at timestamptz,
  last_at timestamptz,
  last_job_id uuid,
  -- times without a run
  missed integer not null default 0,
  -- failed runs in a row
  failures integer not null default 0,
  -- where untrusted text that the goal may follow came from
  taint jsonb not null default '[]',
  -- in whose name it runs; the rights are looked up again at each run
  on_behalf jsonb not null,
  check ((at is null) <> (pattern is null)),
  check ((status = 'active') = (next_at is not null)),
  check ((status = 'paused') = (paused_by is not null)),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 80);
create index on agent_schedule (tenant_id, next_at, id desc);
alter table agent_schedule enable row level security;
alter table agent_schedule force row level security;
create policy app on agent_schedule to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on agent_schedule to tendril_app;

-- What began the job, if nobody did at that moment: {"kind": "schedule", "id": "…"}
alter table agent_job add column cause jsonb;
