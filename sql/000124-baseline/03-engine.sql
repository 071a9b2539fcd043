-- What is not of one area: processes, work, commands and events.

-- One row per server process. A process is alive while its row has not expired and its session
-- advisory lock is held.
create table node (
  incarnation uuid primary key,
  lock_key bigint not null,
  url text not null,
  started_at timestamptz not null default now(),
  expires_at timestamptz not null
);
alter table node enable row level security, force row level security;
create policy system on node to tendril_system using (true) with check (true);
grant select, insert, update, delete on node to tendril_system;

-- One row per workspace: which process owns it (the fence), when it must be awake, and the kill
-- switch.
create table actor (
  tenant_id uuid primary key references tenant,
  owner uuid,
  epoch bigint not null default 0,
  wake_at timestamptz,
  paused boolean not null default false,
  -- since when all automation is paused, and who paused it, as {kind, id}; null while it is not
  paused_at timestamptz,
  paused_by jsonb,
  -- When something of the workspace expires: one server sweeps it then. Letters write rows that
  -- expire later, but only of a workspace that is awake, and waking sets the time.
  sweep_at timestamptz default now(),
  -- Rows of work were changed by no letter, so the process that has the workspace awake does not
  -- know of them.
  nudged boolean not null default false
) with (fillfactor = 70);
create index actor_wake on actor (wake_at) where wake_at is not null;
create index actor_owner on actor (owner) where owner is not null;
create index actor_sweep on actor (sweep_at) where sweep_at is not null;
create index actor_nudged on actor (owner) where nudged;
create policy system on actor to tendril_system using (true) with check (true);
grant select, update (wake_at, paused, paused_at, paused_by) on actor to tendril_app;
grant select, insert, update, delete on actor to tendril_system;

-- Work that outlives its command: the durable mailbox. A row is deleted by the letter that settles
-- it.
create table work (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  lane text not null
    check (lane in ('generation', 'agent', 'publish', 'sync', 'ingest', 'delivery')),
  kind text not null,
  -- the record that it is about
  ref_id uuid not null,
  origin text not null check (origin in ('manual', 'automatic')),
  state text not null default 'queued' check (state in ('queued', 'running')),
  run_at timestamptz not null,
  attempt integer not null default 0,
  claimed_by uuid,
  lease_until timestamptz,
  payload jsonb not null default '{}',
  created_at timestamptz not null default now(),
  -- Rows of one key run one at a time. The key stands in the row, so that a claim looks at nothing
  -- else. Null: the row goes out by the account that is the default when it is claimed, and its
  -- claim writes the key of that account.
  concurrency_key text,
  -- how often in a row its claim or its outcome has failed for reasons of its own
  failures smallint not null default 0,
  -- its own due time, while it rests for that and run_at is the end of the rest; else null
  due_at timestamptz,
  -- the process that was about to claim it alone, after another one had died; null once it has
  -- claimed it
  tried_by uuid,
  -- How many failures a try by tried_by stands for, should that process lose the workspace or die
  -- before the try has ended. None if the process was young, because somebody may be killing one
  -- process after the other. A negative number counts the young processes that tried the row
  -- before; after a few, it waits for an older one.
  charge smallint not null default 0,
  unique (tenant_id, kind, ref_id)
) with (fillfactor = 70);
-- What people asked for goes first, then what is due first: a claim reads the beginning of each.
create index work_due on work (tenant_id, origin, run_at, id);
-- While much is due, groups of work take turns: the first due row of one.
create index work_due_in_lane on work (tenant_id, lane, origin, run_at, id);
create index work_failing on work (id) where failures > 0;
-- Operators see which rows of work fail, in whichever workspace: nothing else of them, and no
-- others.
create policy failing on work for select to tendril_system using (failures > 0);
grant select, insert, update, delete on work to tendril_app;
grant select (id, tenant_id, kind, ref_id, state, run_at, failures,
  due_at)
  on work to tendril_system;

-- What is held because billing is not in order is due once it is. Beyond so many rows, the others
-- find out by themselves, or by the first of them that goes on.
create function wake_held() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform set_config('app.tenant', new.id::text, true);
  update public.work set run_at = now() where tenant_id = new.id and id in (
    select w.id from public.work w where w.tenant_id = new.id and w.state = 'queued' and w.due_at is null and w.run_at > now()
      and case w.kind when 'agent'
        then exists (select from public.agent_job j where j.tenant_id = new.id and j.id = w.ref_id and j.held_since is not null)
        else w.lane = 'generation' and w.payload ? 'heldSince' end
    order by w.run_at, w.id limit 500);
  if found then
    update public.actor set nudged = true, wake_at = least(wake_at, now()) where tenant_id = new.id;
  end if;
  return null;
end $$;
create trigger wake_held after update of billing on tenant
  for each row when (old.billing is distinct from new.billing and new.billing = 'ok')
  execute function wake_held();

-- What a plan bounds, and how much of it is used.
create table counter (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  key text not null,
  period text not null,
  used integer not null,
  primary key (tenant_id, key)
) with (fillfactor = 70);
grant select, insert, update, delete on counter to tendril_app;

-- The answers to replay: what a command answered, by the key that its caller chose.
create table idempotency (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  key text not null check (length(key) between 1 and 200),
  operation text not null,
  fingerprint text not null,
  -- pending: the answer is still to come from the work on this record; done: status and body replay
  state text not null check (state in ('pending', 'done')),
  ref_id uuid,
  status integer,
  body text,
  expires_at timestamptz not null,
  -- zstd: compressed, in base64; inside the seal, if the body is sealed
  encoding text not null default 'text' check (encoding in ('text', 'zstd')),
  created_at timestamptz not null default clock_timestamp(),
  -- What it adds to the total of its workspace: a long answer its size; of the short ones one in
  -- sixteen, drawn by the server, sixteen times its size. To add each answer's own bytes cost as
  -- much as to store it.
  counted integer not null default 0,
  primary key (tenant_id, key)
);
create index idempotency_expiry on idempotency (tenant_id, expires_at);
create index idempotency_pending on idempotency (tenant_id, ref_id) where state = 'pending';
grant select, insert, update, delete on idempotency to tendril_app;

-- What a workspace's answers take altogether is a counter of its own, kept by whatever changes the
-- table, in the same transaction: the gate of a letter reads it with the other counters. Rows that
-- go never make a counter: there is none of a workspace that is erased.
create function count_answer() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    insert into public.counter as c (tenant_id, key, period, used) values (new.tenant_id, 'answers', 'bytes', new.counted)
      on conflict (tenant_id, key) do update set used = least(2000000000, c.used + excluded.used);
  else
    update public.counter set used = greatest(0, least(2000000000, used::bigint + new.counted - old.counted))
      where tenant_id = new.tenant_id and key = 'answers';
    if not found and new.counted > 0 then
      insert into public.counter (tenant_id, key, period, used) values (new.tenant_id, 'answers', 'bytes', new.counted);
    end if;
  end if;
  return null;
end $$;
revoke execute on function count_answer() from public;

create function uncount_answers() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update public.counter c set used = greatest(0, c.used - g.bytes)
    from (select tenant_id, sum(counted) as bytes from gone group by tenant_id) g
    where g.bytes > 0 and c.tenant_id = g.tenant_id and c.key = 'answers';
  return null;
end $$;
revoke execute on function uncount_answers() from public;
create trigger count_added after insert on idempotency
  for each row when (new.counted > 0) execute function count_answer();
create trigger count_changed after update on idempotency
  for each row when (old.counted <> new.counted) execute function count_answer();
create trigger count_gone after delete on idempotency referencing old table as gone
  for each statement execute function uncount_answers();

-- Who has done what.
create table audit (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  at timestamptz not null,
  actor_kind text not null,
  actor_id text not null,
  surface text not null,
  operation text not null,
  ref_id uuid,
  request_id text,
  detail jsonb not null default '{}',
  primary key (tenant_id, id)
);
-- What was done to a record, newest first.
create index audit_of_record on audit (tenant_id, ref_id, id) where ref_id is not null;
-- Whoever signs in, and by what, is told in the workspace's own audit.
create policy system on audit for insert to tendril_system with check (true);
grant select, insert on audit to tendril_app;
grant insert on audit to tendril_system;

-- Events on their way to the workspace's webhook endpoint. Nothing asks for them in the order of
-- their ids: few wait at a time, and each letter pays for indexes.
create table outbox (
  id uuid primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  type text not null,
  data jsonb not null,
  created_at timestamptz not null,
  -- unwanted: no endpoint asked for it; pending: to be sent at next_at, in order within its
  -- subject; dead: given up. What is over is kept until expires_at, to be looked at and sent again.
  state text not null default 'unwanted'
    check (state in ('unwanted', 'pending', 'delivered', 'dead')),
  subject text,
  attempts integer not null default 0,
  next_at timestamptz,
  last_error text,
  expires_at timestamptz default now() + interval '24 hours',
  check ((state = 'pending') = (next_at is not null)),
  check (state <> 'pending' or expires_at is null)
);
create index outbox_order on outbox (tenant_id, subject, created_at, id) where state = 'pending';
create index outbox_expiry on outbox (tenant_id, expires_at) where expires_at is not null;
-- The delivery log of a workspace, newest first. What nobody has asked for is not in it, so
-- workspaces without an endpoint pay nothing.
create index outbox_log on outbox (tenant_id, id) where state <> 'unwanted';
-- The event to deliver next, however many wait: the first in this order that no earlier one of its
-- subject precedes.
create index outbox_due on outbox (tenant_id, next_at, created_at, id) where state = 'pending';
grant select, insert, update, delete on outbox to tendril_app;

-- Where a workspace wants to be told of events: one endpoint each. `id` is made anew whenever the
-- endpoint is set, so that what an earlier one answers does not count.
create table webhook_endpoint (
  tenant_id uuid primary key default nullif(current_setting('app.tenant', true), '')::uuid,
  id uuid not null,
  url text not null,
  -- kinds of events; none: all of them
  events text[] not null default '{}',
  -- AES-256-GCM, bound to the workspace
  secret bytea not null,
  -- signs beside the other one while receivers change over
  previous_secret bytea,
  previous_until timestamptz,
  status text not null check (status in ('active', 'disabled')),
  disabled_reason text,
  -- since when nothing has succeeded, and how often it was tried
  failing_since timestamptz,
  failures integer not null default 0,
  -- the receiver asked to be left alone until then
  held_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((previous_secret is null) = (previous_until is null))
) with (fillfactor = 70);
grant select, insert, update on webhook_endpoint to tendril_app;

-- See tenant.webhook.
create function note_webhook() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare tenant uuid := case tg_op when 'DELETE' then old.tenant_id else new.tenant_id end;
begin
  update public.tenant t set webhook = (select e.events from public.webhook_endpoint e where e.tenant_id = tenant and e.status = 'active')
    where t.id = tenant;
  return null;
end $$;
revoke execute on function note_webhook() from public;
create trigger webhook_set after insert or delete on webhook_endpoint
  for each row execute function note_webhook();
create trigger webhook_changed after update on webhook_endpoint
  for each row when (old.status <> new.status or old.events <> new.events)
  execute function note_webhook();
