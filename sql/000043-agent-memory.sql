-- What the agent is to remember: of the workspace, or of one person. At most 500 of each.
create table agent_memory (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  scope text not null check (scope in ('user', 'workspace')),
  -- whose it is, who alone reads it; it goes when the person leaves the workspace
  person_id uuid,
  text text not null,
  -- SHA-256 of the text
  text_hash text not null,
  -- it may contain words of people outside the workspace
  untrusted boolean not null default false,
  -- its words, and the configuration of full text search by which they were found: that of the workspace's language at the time
  words tsvector not null,
  configuration text not null,
  -- the job that stored it, which may be past its retention
  job_id uuid,
  -- when it was last given to a model
  last_used_at timestamptz,
  check ((scope = 'user') = (person_id is not null)),
  foreign key (tenant_id, person_id) references member (tenant_id, person_id) on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 80);
-- Whose it is, then equal text once.
create unique index agent_memory_text on agent_memory (tenant_id, person_id, text_hash) nulls not distinct;
alter table agent_memory enable row level security;
alter table agent_memory force row level security;
create policy app on agent_memory to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on agent_memory to tendril_app;
