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
  primary key (tenant_id, id)
) with (fillfactor = 80);
alter table webhook_rule enable row level security;
alter table webhook_rule force row level security;
create policy app on webhook_rule to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on webhook_rule to tendril_app;

-- What came in, so that nothing that is sent again is done again.
create table inbound_event (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  source_id uuid not null,
  event_id text not null,
  job_id uuid not null,
  at timestamptz not null,
  primary key (tenant_id, source_id, event_id)
);
create index on inbound_event (tenant_id, source_id, at);
alter table inbound_event enable row level security;
alter table inbound_event force row level security;
create policy app on inbound_event to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, delete on inbound_event to tendril_app;

-- The workspace of a request that names none: the one table here that two roles see.
create table inbound_route (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  kind text not null check (kind in ('rule')),
  key text not null,
  ref_id uuid not null,
  primary key (kind, key)
);
create index on inbound_route (tenant_id);
alter table inbound_route enable row level security;
alter table inbound_route force row level security;
create policy app on inbound_route to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
create policy system on inbound_route for select to tendril_system using (true);
grant select, insert, delete on inbound_route to tendril_app;
grant select on inbound_route to tendril_system;

-- Removes what came in more than 30 days ago, and the conversations of such jobs once the jobs are past their retention. As sweep_agent.
create function sweep_inbound(swept uuid, kept_since timestamptz, most integer) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  since timestamptz := least(kept_since, now() - interval '31 days');
  part record;
  old tid[];
  taken boolean := false;
  more boolean := false;
begin
  perform set_config('app.tenant', swept::text, true);
  for part in select * from (values
    ('inbound_event', 'select ctid from public.inbound_event where tenant_id = $1 and at < now() - interval ''30 days'' limit $3'),
    ('agent_conversation', 'select ctid from public.agent_conversation c where tenant_id = $1 and origin = ''webhook'' and last_at < $2
      and not exists (select 1 from public.agent_job j where j.tenant_id = $1 and j.conversation_id = c.id) limit $3')
  ) as parts (name, query)
  loop
    execute format('select array(%s)', part.query) into old using swept, since, most;
    continue when cardinality(old) = 0;
    if not taken then
      perform 1 from public.actor where tenant_id = swept for no key update;
      taken := true;
      execute format('select array(%s)', part.query) into old using swept, since, most;
    end if;
    execute format('delete from public.%I where ctid = any($1)', part.name) using old;
    more := more or cardinality(old) = most;
  end loop;
  return more;
end $$;

revoke execute on function sweep_inbound(uuid, timestamptz, integer) from public;
grant execute on function sweep_inbound(uuid, timestamptz, integer) to tendril_system;
