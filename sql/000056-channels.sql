-- Messaging channels of a workspace: its connections, the people behind senders, what came in and what goes out.
create table channel_connection (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  channel text not null check (channel in ('email', 'slack', 'whatsapp', 'sms', 'dev')),
  -- by what a post names the connection: an address, a team, the id of a number
  routing_key text not null,
  display_name text not null,
  sender_policy text not null check (sender_policy in ('members', 'anyone')),
  config jsonb not null default '{}',
  -- sealed JSON, and bound to the row; null: none
  credentials bytea,
  credential_names jsonb not null default '[]',
  -- unverified: its provider has not yet said that the routing key is the workspace's own, so nothing is taken in
  status text not null check (status in ('unverified', 'active', 'failing')),
  last_error text,
  -- why its provider has refused to send since the last message, whatever its checks say; null: it has not
  send_error text,
  -- what could not be checked or sent, in a row
  failures integer not null default 0,
  checked_at timestamptz,
  last_in_at timestamptz,
  last_out_at timestamptz,
  -- no message leaves before; null: at once
  next_out_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 80);
create unique index on channel_connection (tenant_id, channel, routing_key);
alter table channel_connection enable row level security;
alter table channel_connection force row level security;
create policy app on channel_connection to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on channel_connection to tendril_app;

-- A sender who has shown that he is a member.
create table channel_identity (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  connection_id uuid not null,
  -- as the provider names the sender
  external_id text not null,
  name text,
  person_id uuid not null,
  -- where a message of ours reaches this sender outside of a thread; null: nowhere
  reply_to jsonb,
  verified_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, connection_id) references channel_connection (tenant_id, id) on delete cascade
);
create unique index on channel_identity (tenant_id, connection_id, external_id);
create index on channel_identity (tenant_id, person_id);
alter table channel_identity enable row level security;
alter table channel_identity force row level security;
create policy app on channel_identity to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on channel_identity to tendril_app;

-- A code that links the sender who sends it to the person who was shown it. One a person and connection; used once.
create table channel_link_code (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  connection_id uuid not null,
  person_id uuid not null,
  -- SHA-256 of the code
  code_hash text not null,
  expires_at timestamptz not null,
  primary key (tenant_id, connection_id, person_id),
  foreign key (tenant_id, connection_id) references channel_connection (tenant_id, id) on delete cascade
);
create unique index on channel_link_code (tenant_id, connection_id, code_hash);
alter table channel_link_code enable row level security;
alter table channel_link_code force row level security;
create policy app on channel_link_code to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on channel_link_code to tendril_app;

-- Conversations of a channel, by their thread and by whom it trusts.
alter table agent_conversation add column connection_id uuid, add column thread text;
create unique index on agent_conversation (tenant_id, connection_id, thread) where connection_id is not null;

-- What came in from a channel, and where its answer goes.
create table channel_message (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  connection_id uuid not null,
  -- fetching: its text or attachments are still to be read at the provider. taken: its job has begun
  state text not null check (state in ('fetching', 'taken', 'failed')),
  sender text not null,
  sender_name text,
  -- the linked sender, at that time; null: a stranger
  identity_id uuid,
  -- as the provider names it
  thread text not null,
  -- whether people of the thread share a conversation
  is_shared boolean not null default false,
  subject text,
  -- as it came, without quotations and signatures; null while it is to be fetched
  text text,
  attachments jsonb not null default '[]',
  -- what the adapter needs to answer
  reply_to jsonb not null,
  -- where a message of ours reaches the sender outside of the thread; null: nowhere
  direct_to jsonb,
  -- what the adapter needs to fetch; null: nothing
  to_fetch jsonb,
  error text,
  job_id uuid,
  conversation_id uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, connection_id) references channel_connection (tenant_id, id) on delete cascade
) with (fillfactor = 80);
create index on channel_message (tenant_id, job_id) where job_id is not null;
create index on channel_message (tenant_id, created_at);
-- how many jobs strangers have begun
create index on channel_message (tenant_id, connection_id, created_at) where identity_id is null;
alter table channel_message enable row level security;
alter table channel_message force row level security;
create policy app on channel_message to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on channel_message to tendril_app;

-- What goes out to a channel: sent at most once.
create table channel_reply (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  connection_id uuid not null,
  -- the job that it answers, and what began it; null: what nobody's job says, such as a line to a stranger
  job_id uuid,
  message_id uuid,
  conversation_id uuid,
  -- the recipient, as people read it
  recipient text not null,
  reply_to jsonb not null,
  -- as the agent wrote it, in Markdown
  text text not null,
  -- the messages that it becomes, in the form of the channel: [{text, state, external_id, error, tried_at, in_doubt}]; none before its first try
  parts jsonb not null,
  status text not null check (status in ('held', 'queued', 'sending', 'sent', 'failed', 'unknown', 'discarded')),
  tries integer not null default 0,
  error text,
  -- who decided about a held one
  decided_by uuid,
  decided_at timestamptz,
  sent_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, connection_id) references channel_connection (tenant_id, id) on delete cascade
) with (fillfactor = 80);
create index on channel_reply (tenant_id, status, id);
create index on channel_reply (tenant_id, job_id) where job_id is not null;
create index on channel_reply (tenant_id, created_at);
create index on channel_reply (tenant_id, connection_id);
alter table channel_reply enable row level security;
alter table channel_reply force row level security;
create policy app on channel_reply to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on channel_reply to tendril_app;

-- When the channel that its job came from was told of it.
alter table agent_approval add column told_at timestamptz;

-- What a channel sends need not begin a job, and is counted by its sender.
alter table inbound_event alter column job_id drop not null, add column sender text;
create index on inbound_event (tenant_id, source_id, sender, at) where sender is not null;

-- A route of a channel is entered once its provider has said that the key is the workspace's own. whatsapp_challenge: by SHA-256 of a verify token.
alter table inbound_route drop constraint inbound_route_kind_check;
alter table inbound_route add constraint inbound_route_kind_check
  check (kind in ('rule', 'share', 'email', 'slack', 'whatsapp', 'sms', 'dev', 'whatsapp_challenge'));
