-- The workspace agent: conversations, the jobs that answer them, their steps, and what people decide about them.

create table agent_conversation (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  title text,
  status text not null check (status in ('active', 'archived')),
  origin text not null check (origin in ('app', 'channel', 'schedule', 'webhook')),
  -- who began it; null for a key of the workspace
  person_id uuid,
  summary text,
  -- the messages up to this number are in the summary
  summarised_to integer not null default 0,
  next_seq integer not null default 1,
  -- by handle, such as item:3
  handles jsonb not null default '{}',
  last_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 80);
create index on agent_conversation (tenant_id, last_at desc, id desc);
alter table agent_conversation enable row level security;
alter table agent_conversation force row level security;
create policy app on agent_conversation to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on agent_conversation to tendril_app;

create table agent_message (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  conversation_id uuid not null,
  seq integer not null,
  job_id uuid,
  -- the message that it answers, which is not always the one before: a job that waits answers late
  reply_to uuid,
  role text not null check (role in ('user', 'assistant', 'notice')),
  content text not null,
  author jsonb not null,
  -- it may contain words of people outside the workspace
  untrusted boolean not null default false,
  model text,
  tools_used jsonb not null default '[]',
  foreign key (tenant_id, conversation_id) references agent_conversation on delete cascade,
  unique (tenant_id, conversation_id, seq),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 80);
alter table agent_message enable row level security;
alter table agent_message force row level security;
create policy app on agent_message to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on agent_message to tendril_app;

create table agent_feedback (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  conversation_id uuid not null,
  message_id uuid not null,
  job_id uuid,
  user_id uuid not null,
  verdict text not null check (verdict in ('up', 'down')),
  correction text,
  message_excerpt text not null,
  metadata jsonb not null default '{}',
  foreign key (tenant_id, conversation_id) references agent_conversation on delete cascade,
  unique (tenant_id, user_id, message_id),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 80);
alter table agent_feedback enable row level security;
alter table agent_feedback force row level security;
create policy app on agent_feedback to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on agent_feedback to tendril_app;

create table agent_job (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  kind text not null check (kind in ('turn', 'task', 'action', 'scheduled', 'webhook', 'channel', 'delegate')),
  status text not null
    check (status in ('queued', 'running', 'waiting_approval', 'waiting_child', 'completed', 'failed', 'cancelled')),
  error text,
  goal text not null,
  conversation_id uuid,
  message_id uuid,
  parent_id uuid,
  root_id uuid not null,
  depth integer not null default 0,
  origin text not null check (origin in ('manual', 'automatic')),
  -- the caller, whose rights are looked up again at each step
  on_behalf jsonb not null,
  -- the tools that it may use; null: those of its caller
  tools jsonb,
  -- names of tools that it has asked to see whole
  shown jsonb not null default '[]',
  tier text not null check (tier in ('fast', 'reasoning')),
  -- what the caller asked for, and what runs
  asked_model text,
  model text not null,
  -- where untrusted text that it has read came from
  taint jsonb not null default '[]',
  scheduled boolean not null default false,
  model_calls integer not null default 0,
  tool_calls integer not null default 0,
  input_tokens integer not null default 0,
  output_tokens integer not null default 0,
  -- hundredths of a US cent; null while a model without a price has been used
  cost integer not null default 0,
  cost_estimated boolean not null default false,
  active_ms integer not null default 0,
  -- answers in a row that could not be used
  invalid_answers integer not null default 0,
  next_step integer not null default 1,
  next_event integer not null default 1,
  started_at timestamptz,
  ended_at timestamptz,
  check ((ended_at is null) = (status not in ('completed', 'failed', 'cancelled'))),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 80);
create index on agent_job (tenant_id, conversation_id, id);
create index on agent_job (tenant_id, parent_id) where parent_id is not null;
create index on agent_job (tenant_id, status, id) where ended_at is null;
create index on agent_job (tenant_id, ended_at) where ended_at is not null;
alter table agent_job enable row level security;
alter table agent_job force row level security;
create policy app on agent_job to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on agent_job to tendril_app;

create table agent_step (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  job_id uuid not null,
  number integer not null,
  kind text not null check (kind in ('model', 'tool', 'summary')),
  -- the tool, or the model
  name text not null,
  state text not null
    check (state in ('ready', 'asked', 'running', 'waiting', 'done', 'failed', 'rejected', 'unknown', 'cancelled')),
  -- the id of the call in the transcript
  call text,
  -- as the model wrote them, with handles
  asked text,
  args jsonb,
  -- SHA-256 of the canonical arguments
  args_hash text,
  -- how it runs and what it may do, when it was called
  class text check (class in ('read', 'draft', 'commit', 'safe', 'outside_read', 'outside_write')),
  why jsonb not null default '[]',
  result jsonb,
  result_cut boolean not null default false,
  untrusted text,
  error text,
  -- what the model answered: words, and the number of calls
  answer jsonb,
  -- the record whose outcome it waits for
  awaits_kind text,
  awaits uuid,
  -- the model's step that called it
  of_step integer,
  input_tokens integer,
  cached_tokens integer,
  output_tokens integer,
  cost integer,
  reserved_tokens integer not null default 0,
  reserved_cost integer not null default 0,
  -- the periods that the reservation was taken from
  day text,
  month text,
  attempt integer not null default 0,
  not_before timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  foreign key (tenant_id, job_id) references agent_job on delete cascade,
  unique (tenant_id, job_id, number),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 80);
create index on agent_step (tenant_id, name, started_at) where kind = 'tool' and started_at is not null;
alter table agent_step enable row level security;
alter table agent_step force row level security;
create policy app on agent_step to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on agent_step to tendril_app;

create table agent_approval (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  -- without a foreign key, as the next: the list outlives jobs and steps
  job_id uuid not null,
  step_id uuid not null,
  goal text not null,
  tool_name text not null,
  summary text not null,
  arguments jsonb not null,
  arguments_hash text not null,
  -- the records as they were shown, with their hashes, the account and the text that would go out
  subject jsonb not null,
  why jsonb not null,
  status text not null check (status in ('pending', 'approved', 'rejected')),
  decided_by uuid,
  decided_how text check (decided_how in ('person', 'expiry', 'cancel', 'stale')),
  reason text,
  edited boolean not null default false,
  expires_at timestamptz not null,
  decided_at timestamptz,
  check ((status = 'pending') = (decided_at is null)),
  unique (tenant_id, step_id),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 80);
create index on agent_approval (tenant_id, status, id);
create index on agent_approval (tenant_id, job_id);
alter table agent_approval enable row level security;
alter table agent_approval force row level security;
create policy app on agent_approval to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on agent_approval to tendril_app;

create table agent_tool_rule (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  tool_name text not null,
  decision text not null check (decision in ('allow', 'ask', 'deny')),
  definition_hash text,
  set_by uuid not null,
  unique (tenant_id, tool_name),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 80);
alter table agent_tool_rule enable row level security;
alter table agent_tool_rule force row level security;
create policy app on agent_tool_rule to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on agent_tool_rule to tendril_app;

-- What happened in a job, in order. Written in the commit that it tells of.
create table agent_event (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  job_id uuid not null,
  seq integer not null,
  -- of the conversation, whose stream has all events of its jobs; null for a job without one
  conversation_id uuid,
  -- the order of a conversation's events, whichever job they belong to. It has gaps, and grows in the order of commits, since the letters of
  -- a workspace hold the lock of its actor. A counter in the conversation's row would be written by two parts of one statement.
  conversation_seq bigint generated by default as identity,
  at timestamptz not null,
  type text not null,
  data jsonb not null,
  primary key (tenant_id, job_id, seq),
  foreign key (tenant_id, job_id) references agent_job on delete cascade
);
create index on agent_event (tenant_id, conversation_id, conversation_seq) where conversation_id is not null;
alter table agent_event enable row level security;
alter table agent_event force row level security;
create policy app on agent_event to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, delete on agent_event to tendril_app;
