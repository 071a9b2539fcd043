-- Messaging channels of a workspace: its connections, the people behind senders, what came in and
-- what goes out.

-- The workspace of a request that names none: the one table here that two roles see.
create table inbound_route (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  -- Of a channel: entered once its provider has said that the key is the workspace's own. share: by
  -- the hash of its token. whatsapp_challenge: by SHA-256 of a verify token.
  kind text not null
    check (kind in ('rule', 'share', 'email', 'slack', 'whatsapp', 'sms', 'dev',
      'whatsapp_challenge')),
  key text not null,
  ref_id uuid not null,
  -- from then on it finds nothing, as if it had never been
  expires_at timestamptz,
  primary key (kind, key)
);
create index on inbound_route (tenant_id);
create index inbound_route_ref on inbound_route (tenant_id, ref_id);
create index inbound_route_expiry on inbound_route (tenant_id, expires_at)
  where expires_at is not null;
create policy system on inbound_route for select to tendril_system using (true);
grant select, insert, delete on inbound_route to tendril_app;
grant select on inbound_route to tendril_system;

-- What came in, so that nothing that is sent again is done again.
create table inbound_event (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  source_id uuid not null,
  event_id text not null,
  job_id uuid,
  at timestamptz not null,
  -- What a channel sends need not begin a job, and is counted by its sender.
  sender text,
  primary key (tenant_id, source_id, event_id)
);
create index on inbound_event (tenant_id, source_id, at);
create index on inbound_event (tenant_id, source_id, sender, at) where sender is not null;
create index on inbound_event (tenant_id, at);
grant select, insert, delete on inbound_event to tendril_app;

-- A channel of a workspace, as its provider knows it.
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
  -- unverified: its provider has not yet said that the routing key is the workspace's own, so
  -- nothing is taken in
  status text not null check (status in ('unverified', 'active', 'failing')),
  last_error text,
  -- why its provider has refused to send since the last message, whatever its checks say; null: it
  -- has not
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
  foreign key (tenant_id, connection_id)
    references channel_connection (tenant_id, id) on delete cascade
);
create unique index on channel_identity (tenant_id, connection_id, external_id);
create index on channel_identity (tenant_id, person_id);
grant select, insert, update, delete on channel_identity to tendril_app;

-- A code that links the sender who sends it to the person who was shown it. One a person and
-- connection; used once.
create table channel_link_code (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  connection_id uuid not null,
  person_id uuid not null,
  -- SHA-256 of the code
  code_hash text not null,
  expires_at timestamptz not null,
  -- Whom the code has to come from; null: anybody. A code that came from a sender whose name can be
  -- forged is followed by a second one, which is sent to that sender: the row has its hash and its
  -- time from then on.
  sender text,
  primary key (tenant_id, connection_id, person_id),
  foreign key (tenant_id, connection_id)
    references channel_connection (tenant_id, id) on delete cascade
);
create unique index on channel_link_code (tenant_id, connection_id, code_hash);
grant select, insert, update, delete on channel_link_code to tendril_app;

-- What came in from a channel, and where its answer goes.
create table channel_message (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  connection_id uuid not null,
  -- fetching: its text or attachments are still to be read at the provider. taken: its job has
  -- begun
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
  foreign key (tenant_id, connection_id)
    references channel_connection (tenant_id, id) on delete cascade
) with (fillfactor = 80);
create index on channel_message (tenant_id, job_id) where job_id is not null;
create index on channel_message (tenant_id, created_at);
-- how many jobs strangers have begun
create index on channel_message (tenant_id, connection_id, created_at) where identity_id is null;
-- What goes with a connection, and the talk with one sender.
create index on channel_message (tenant_id, connection_id, id);
-- how many jobs messages in a member's name have begun
create index on channel_message (tenant_id, connection_id, sender, created_at)
  where identity_id is not null and state <> 'failed';
grant select, insert, update, delete on channel_message to tendril_app;

-- What goes out to a channel: sent at most once.
create table channel_reply (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  connection_id uuid,
  -- the job that it answers, and what began it; null: what nobody's job says, such as a line to a
  -- stranger
  job_id uuid,
  message_id uuid,
  conversation_id uuid,
  -- the recipient, as people read it
  recipient text not null,
  reply_to jsonb not null,
  -- as the agent wrote it, in Markdown
  text text not null,
  -- the messages that it becomes, in the form of the channel: [{text, state, external_id, error,
  -- tried_at, in_doubt}]; none before its first try
  parts jsonb not null,
  status text not null
    check (status in ('held', 'queued', 'sending', 'sent', 'failed', 'unknown', 'discarded')),
  tries integer not null default 0,
  error text,
  -- who decided about a held one
  decided_by uuid,
  decided_at timestamptz,
  sent_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- why it waits, or waited, for a person; null: it did not, or nobody noted it
  why text,
  -- a code that the message has in the place of its mask in the text: sealed, and bound to the row;
  -- null: none, or it is on its way
  secret bytea,
  -- What a mail holds beside its text, made with the parts before the first of them is sent. One
  -- for each part; null: none, or all parts have been sent.
  html text[],
  -- A reply that is on the wire when its channel is disconnected stays, and takes its outcome:
  -- without a connection, and with the name of its channel.
  channel text,
  primary key (tenant_id, id),
  foreign key (tenant_id, connection_id)
    references channel_connection (tenant_id, id) on delete cascade,
  constraint channel_reply_of check (connection_id is not null or channel is not null)
) with (fillfactor = 80);
create index on channel_reply (tenant_id, status, id);
create index on channel_reply (tenant_id, job_id) where job_id is not null;
create index on channel_reply (tenant_id, created_at);
create index on channel_reply (tenant_id, connection_id);
grant select, insert, update, delete on channel_reply to tendril_app;

-- Ends what a person who has left these workspaces had of the agent there: links of channels'
-- senders, unused codes, and private conversations, which joining again does not bring back. Each
-- workspace is named to the policies of the tables, which bind the owner of the tables too.
create function unlink_person(gone uuid, places uuid[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  place uuid;
begin
  foreach place in array places
  loop
    perform set_config('app.tenant', place::text, true);
    delete from public.channel_identity where tenant_id = place and person_id = gone;
    delete from public.channel_link_code where tenant_id = place and person_id = gone;
    update public.agent_conversation set people = people - gone::text, person_id = case when visibility = 'private' then nullif(person_id, gone) else person_id end
      where tenant_id = place and (people ? gone::text or (person_id = gone and visibility = 'private'));
  end loop;
end $$;
revoke execute on function unlink_person(uuid, uuid[]) from public;
grant execute on function unlink_person(uuid, uuid[]) to tendril_system;
