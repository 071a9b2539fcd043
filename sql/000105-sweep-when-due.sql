-- A workspace is swept when something in it has expired, and by one server. The time stands with its actor: letters write rows that expire
-- later, but only of a workspace that is awake, and waking sets the time.
alter table actor add column sweep_at timestamptz default now();
create index actor_sweep on actor (sweep_at) where sweep_at is not null;

-- How long rows are kept: where a server is started with other settings, the times above are no longer right.
alter table deployment add column retention text;

create index on inbound_event (tenant_id, at);
create index agent_conversation_passing on agent_conversation (tenant_id, last_at) where origin = 'webhook';

-- When the next row of a workspace that sleeps is removed by one of the sweeps; null: never. A row that is old enough and still there is in
-- the way of none: what refers to it goes first, or it stays with what names it. Such a workspace is looked at once a day.
create function sweep_due(swept uuid, keep interval, agent_keep interval) returns timestamptz
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- As the sweeps have it.
  kept constant interval := greatest(keep, interval '1 day');
  agent constant interval := greatest(agent_keep, interval '31 days');
  due timestamptz;
begin
  perform set_config('app.tenant', swept::text, true);
  select min(case when at <= now() then now() + interval '1 day' else at end) into due from (values
    ((select min(expires_at) from public.idempotency where tenant_id = swept)),
    ((select min(expires_at) from public.outbox where tenant_id = swept and expires_at is not null)),
    ((select at from public.audit where tenant_id = swept order by id limit 1) + kept),
    ((select min(least(revoked_at, expires_at)) from public.api_key
      where tenant_id = swept and (revoked_at is not null or expires_at is not null)) + kept),
    ((select min(expires_at) from public.invitation where tenant_id = swept) + kept),
    ((select min(updated_at) from public.learning where tenant_id = swept and status = 'retired') + kept),
    ((select min(concluded_at) from public.experiment where tenant_id = swept and status = 'concluded') + kept),
    -- Jobs that a conversation shows stay; their steps and events go.
    ((select min(ended_at) from public.agent_job where tenant_id = swept and ended_at > now() - agent) + agent),
    ((select min(ended_at) from public.agent_job where tenant_id = swept and ended_at is not null and kind not in ('turn', 'channel')) + agent),
    ((select min(at) from public.inbound_event where tenant_id = swept) + interval '30 days'),
    ((select min(last_at) from public.agent_conversation where tenant_id = swept and origin = 'webhook') + agent),
    ((select min(created_at) from public.channel_reply where tenant_id = swept) + agent),
    ((select min(created_at) from public.channel_message where tenant_id = swept) + agent),
    ((select min(noted_at) from public.file where tenant_id = swept and kept_at is null) + interval '24 hours'),
    ((select min(deleted_at) from public.artifact where tenant_id = swept and deleted_at is not null) + interval '7 days'),
    ((select min(least(revoked_at, expires_at)) from public.artifact_share where tenant_id = swept) + interval '7 days'),
    ((select min(expires_at) from public.inbound_route where tenant_id = swept and expires_at is not null)),
    ((select min(until) from public.item_print where tenant_id = swept)),
    ((select min(deleted_at) from public.item where tenant_id = swept and deleted_at is not null) + interval '30 days'),
    ((select min(deleted_at) from public.engagement where tenant_id = swept and deleted_at is not null) + interval '30 days')) as times (at);
  return due;
end $$;
revoke execute on function sweep_due(uuid, interval, interval) from public;
grant execute on function sweep_due(uuid, interval, interval) to tendril_system;

-- tendril_system reads no row of the deployment itself, which holds what the secret is compared with.
create function retention_differs(kept text) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as
$$ select exists (select 1 from public.deployment where retention is distinct from kept) $$;
create function note_retention(kept text) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$ update public.deployment set retention = kept $$;
revoke execute on function retention_differs(text), note_retention(text) from public;
grant execute on function retention_differs(text), note_retention(text) to tendril_system;
