-- The workspace agent: conversations, the jobs that answer them, their steps, and what people
-- decide about them.

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
  -- some of the summarised messages may contain words of people outside the workspace
  summary_untrusted boolean not null default false,
  -- of a conversation in a channel: the connection, and the thread as the provider names it
  connection_id uuid,
  thread text,
  -- Whose words the summary is made of: what they may do is asked again each time that somebody's
  -- job is given the summary.
  summary_authors jsonb not null default '[]',
  -- Who sees it, and all that is made of it: the workspace, or whoever began it and the people they
  -- have added.
  visibility text not null default 'workspace' check (visibility in ('workspace', 'private')),
  people jsonb not null default '[]',
  -- A deleted conversation is shown to nobody, and erased after 30 days with all that was made of
  -- it. Its thread in a channel is free for the next one at once.
  deleted_at timestamptz,
  primary key (tenant_id, id)
) with (fillfactor = 80);
create index on agent_conversation (tenant_id, last_at desc, id desc);
create unique index on agent_conversation (tenant_id, connection_id, thread)
  where connection_id is not null;
create index agent_conversation_deleted on agent_conversation (tenant_id, deleted_at)
  where deleted_at is not null;
create index agent_conversation_passing on agent_conversation (tenant_id, last_at)
  where origin = 'webhook';
grant select, insert, update, delete on agent_conversation to tendril_app;

-- What was said in a conversation.
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
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id),
  unique (tenant_id, conversation_id, seq),
  foreign key (tenant_id, conversation_id)
    references agent_conversation (tenant_id, id) on delete cascade
) with (fillfactor = 80);
-- Each claim of a job asks whether its conversation holds words of people outside.
create index agent_message_untrusted on agent_message (tenant_id, conversation_id) where untrusted;
grant select, insert, update, delete on agent_message to tendril_app;

-- What people think of an answer.
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
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id),
  unique (tenant_id, user_id, message_id),
  foreign key (tenant_id, conversation_id)
    references agent_conversation (tenant_id, id) on delete cascade
) with (fillfactor = 80);
grant select, insert, update, delete on agent_feedback to tendril_app;

-- What answers a message, or works on a goal, in steps.
create table agent_job (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  kind text not null
    check (kind in ('turn', 'task', 'action', 'scheduled', 'webhook', 'channel', 'delegate')),
  status text not null
    check (status in ('queued', 'running', 'waiting_approval', 'waiting_child', 'completed',
      'failed', 'cancelled')),
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
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- what began it, if nobody did at that moment: {"kind": "schedule", "id": "…"}
  cause jsonb,
  -- the step of its parent that waits for it
  parent_step_id uuid,
  -- calls of the model that it may make itself; null: those that are left to its tree
  most_steps integer check (most_steps >= 1),
  -- of a task: its type, input and most attempts
  task jsonb,
  -- what a job without a conversation gave
  output jsonb,
  -- since when it has waited for billing to be in order; null: it does not
  held_since timestamptz,
  -- What it holds of its budgets beside what it is known to have used: reserved by calls of models
  -- that are on the wire, or that died.
  reserved_tokens integer not null default 0,
  reserved_cost integer not null default 0,
  -- A command that a person has typed, which no model answers: it waits for no job of its
  -- conversation that does.
  typed boolean not null default false,
  primary key (tenant_id, id),
  check ((ended_at is null) = (status not in ('completed', 'failed', 'cancelled')))
) with (fillfactor = 80);
create index on agent_job (tenant_id, conversation_id, id);
create index on agent_job (tenant_id, parent_id) where parent_id is not null;
create index on agent_job (tenant_id, status, id) where ended_at is null;
create index on agent_job (tenant_id, ended_at) where ended_at is not null;
-- Turns and messages of channels are kept with their conversation; the sweep must find the others
-- without a look at those.
create index agent_job_passing on agent_job (tenant_id, ended_at)
  where ended_at is not null and kind not in ('turn', 'channel');
create index on agent_job (tenant_id, root_id) where parent_id is not null;
create index on agent_job (tenant_id, id) where kind = 'task';
grant select, insert, update, delete on agent_job to tendril_app;

-- One call of the model or of a tool, with its result.
create table agent_step (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  job_id uuid not null,
  number integer not null,
  kind text not null check (kind in ('model', 'tool', 'summary')),
  -- the tool, or the model
  name text not null,
  state text not null
    check (state in ('ready', 'asked', 'running', 'waiting', 'done', 'failed', 'rejected',
      'unknown', 'cancelled')),
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
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- tries that came to nothing, before the one that the step shows: when each began and ended, and
  -- why
  tries jsonb not null default '[]',
  -- tells whether two calls gave the same, without reading what they gave; null: nothing yet, or an
  -- old row
  result_hash text,
  primary key (tenant_id, id),
  unique (tenant_id, job_id, number),
  foreign key (tenant_id, job_id) references agent_job (tenant_id, id) on delete cascade
) with (fillfactor = 80);
create index on agent_step (tenant_id, name, started_at)
  where kind = 'tool' and started_at is not null;
grant select, insert, update, delete on agent_step to tendril_app;

-- What happened in a job, in order. Written in the commit that it tells of.
create table agent_event (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  job_id uuid not null,
  seq integer not null,
  -- of the conversation, whose stream has all events of its jobs; null for a job without one
  conversation_id uuid,
  -- the order of a conversation's events, whichever job they belong to. It has gaps, and grows in
  -- the order of commits, since the letters of a workspace hold the lock of its actor. A counter in
  -- the conversation's row would be written by two parts of one statement.
  conversation_seq bigint generated by default as identity,
  at timestamptz not null,
  type text not null,
  data jsonb not null,
  primary key (tenant_id, job_id, seq),
  foreign key (tenant_id, job_id) references agent_job (tenant_id, id) on delete cascade
);
create index on agent_event (tenant_id, conversation_id, conversation_seq)
  where conversation_id is not null;
grant select, insert, delete on agent_event to tendril_app;

-- A call that waits for a person, or what was decided about it.
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
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- who called the tool directly, without a model, so that an equal call joins it
  direct_by text,
  -- when the channel that its job came from was told of it
  told_at timestamptz,
  -- the conversation that it is asked in; of a child, that of its root. Approvals outlive their
  -- jobs.
  conversation_id uuid,
  primary key (tenant_id, id),
  unique (tenant_id, step_id),
  check ((status = 'pending') = (decided_at is null))
) with (fillfactor = 80);
create index on agent_approval (tenant_id, status, id);
create index on agent_approval (tenant_id, job_id);
create unique index agent_approval_direct
  on agent_approval (tenant_id, direct_by, tool_name, arguments_hash)
  where status = 'pending' and direct_by is not null;
create index agent_approval_conversation on agent_approval (tenant_id, conversation_id)
  where conversation_id is not null;
grant select, insert, update, delete on agent_approval to tendril_app;

-- Servers of other people's tools, which a workspace connects by the Model Context Protocol.
create table mcp_server (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  name text not null,
  transport text check (transport in ('streamable_http', 'stdio')),
  url text,
  command text,
  args jsonb not null default '[]',
  -- sealed JSON, and bound to the row; null: none
  headers bytea,
  env bytea,
  header_names jsonb not null default '[]',
  env_names jsonb not null default '[]',
  -- of the names of its tools
  tool_prefix text not null,
  enabled boolean not null,
  metadata jsonb not null default '{}',
  -- refused: it cannot be asked as it is configured
  status text not null check (status in ('new', 'ready', 'failing', 'refused')),
  last_error text,
  -- looks in a row that came to nothing
  failures integer not null default 0,
  looked_at timestamptz,
  -- when one of its tools was last called, or a person last decided about one
  used_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id),
  check (enabled = false or status <> 'refused')
) with (fillfactor = 80);
create unique index on mcp_server (tenant_id, tool_prefix);
grant select, insert, update, delete on mcp_server to tendril_app;

-- What a server had at the last look. All of it is text of people outside.
create table mcp_tool (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  server_id uuid not null,
  -- with the prefix: as the agent and people know it
  name text not null,
  own_name text not null,
  title text not null,
  description text not null,
  parameters jsonb not null,
  read_only_hint boolean not null,
  -- of name, description and schema as the server wrote them, and of where it is: what a rule is
  -- bound to
  hash text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, server_id) references mcp_server (tenant_id, id) on delete cascade
);
create unique index on mcp_tool (tenant_id, name);
create index on mcp_tool (tenant_id, server_id);
grant select, insert, update, delete on mcp_tool to tendril_app;

-- What a person has decided about every call of a tool.
create table agent_tool_rule (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  tool_name text not null,
  decision text not null check (decision in ('allow', 'ask', 'deny')),
  definition_hash text,
  set_by uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- for a tool of a server: the server, with which the rule goes, and the definition that the
  -- person has read
  server_id uuid,
  definition jsonb,
  primary key (tenant_id, id),
  unique (tenant_id, tool_name),
  foreign key (tenant_id, server_id) references mcp_server (tenant_id, id) on delete cascade
) with (fillfactor = 80);
create index on agent_tool_rule (tenant_id, server_id) where server_id is not null;
grant select, insert, update, delete on agent_tool_rule to tendril_app;

-- Where else a workspace wants a module of tools: without a row, nowhere beyond what is always
-- offered.
create table agent_module (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  name text not null,
  mcp boolean not null,
  set_by uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, name)
) with (fillfactor = 80);
grant select, insert, update, delete on agent_module to tendril_app;

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
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- who wrote the goal, if it runs in the name of somebody else by now; null: whoever it runs for
  goal_by jsonb,
  primary key (tenant_id, id),
  check ((at is null) <> (pattern is null)),
  check ((status = 'active') = (next_at is not null)),
  check ((status = 'paused') = (paused_by is not null))
) with (fillfactor = 80);
create index on agent_schedule (tenant_id, next_at, id desc);
grant select, insert, update, delete on agent_schedule to tendril_app;

-- Rules by which a signed post from outside starts a job of the agent.
create table webhook_rule (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  name text not null,
  goal text not null,
  -- the tools that its jobs may use; null: those of its caller
  tools jsonb,
  -- sealed, and bound to the row
  secret bytea not null,
  -- the people to whom the secret may still be shown, once
  reveal_to jsonb not null default '[]',
  enabled boolean not null,
  last_at timestamptz,
  received integer not null default 0,
  -- posts over the rate
  refused integer not null default 0,
  -- where untrusted text that the goal may follow came from
  taint jsonb not null default '[]',
  -- in whose name its jobs run; the rights are looked up again at each step
  on_behalf jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- who wrote the goal, if it runs in the name of somebody else by now; null: whoever it runs for
  goal_by jsonb,
  primary key (tenant_id, id)
) with (fillfactor = 80);
grant select, insert, update, delete on webhook_rule to tendril_app;
