-- Whether a sweep would find something in a workspace: what has expired, or words to move. Every
-- workspace that is awake is looked at each minute, and the sweeps plan some thirty statements anew
-- at each call: to find nothing took them ten times as long as this, whose statements a connection
-- plans once. `most`: as the sweeps have it.
create function needs_sweep(swept uuid, keep interval, agent_keep interval, most integer)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- As the sweeps have it.
  kept constant timestamptz := now() - greatest(keep, interval '1 day');
  agent constant timestamptz := now() - greatest(agent_keep, interval '31 days');
  deleted constant timestamptz := now() - interval '7 days';
  kib integer;
begin
  perform set_config('app.tenant', swept::text, true);
  if exists (select from public.idempotency where tenant_id = swept and expires_at <= now())
    or exists (select from public.outbox where tenant_id = swept and expires_at <= now())
    or (select at from public.audit where tenant_id = swept order by id limit 1) < kept
  then return true; end if;
  if exists (select from public.item_word_move where tenant_id = swept)
    or exists (select from public.item_print where tenant_id = swept and until < now())
    or exists (select from public.file where tenant_id = swept and kept_at is null
      and noted_at < now() - interval '24 hours')
  then return true; end if;
  if exists (select from public.api_key where tenant_id = swept
      and (revoked_at is not null or expires_at is not null) and least(revoked_at, expires_at) < kept)
    or exists (select from public.invitation where tenant_id = swept and expires_at < kept)
    or exists (select from public.learning where tenant_id = swept and status = 'retired' and updated_at < kept)
    or exists (select from public.experiment e where tenant_id = swept and status = 'concluded' and concluded_at < kept
      and not exists (select from public.batch b where b.tenant_id = swept and b.experiment_id = e.id)
      and not exists (select from public.item i where i.tenant_id = swept and i.experiment_id = e.id))
  then return true; end if;
  if exists (select from public.inbound_event where tenant_id = swept and at < now() - interval '30 days')
    or exists (select from public.agent_conversation c where tenant_id = swept and origin = 'webhook' and last_at < agent
      and not exists (select from public.agent_job j where j.tenant_id = swept and j.conversation_id = c.id))
    or exists (select from public.channel_reply where tenant_id = swept and created_at < agent
      and status not in ('queued', 'sending'))
    or exists (select from public.channel_message m where tenant_id = swept and created_at < agent and state <> 'fetching'
      and not exists (select from public.agent_job j where j.tenant_id = swept and j.id = m.job_id and j.ended_at is null))
  then return true; end if;
  kib := coalesce((select used from public.counter where tenant_id = swept and key = 'files'), 0);
  if exists (select from public.artifact where tenant_id = swept
      and deleted_at < case when kib > 786432 then now() else deleted end)
    or exists (select from public.artifact_share where tenant_id = swept and least(revoked_at, expires_at) < deleted)
    or exists (select from public.inbound_route where tenant_id = swept and expires_at < now())
  then return true; end if;
  if exists (select from public.agent_job where tenant_id = swept and ended_at < agent) then
    -- Jobs that a conversation shows stay; their steps and events go.
    if exists (select from public.agent_job where tenant_id = swept and ended_at < agent and kind not in ('turn', 'channel'))
      or exists (select from (select job_id from public.agent_event where tenant_id = swept order by job_id, seq limit most) o
        join public.agent_job j on j.tenant_id = swept and j.id = o.job_id and j.ended_at < agent)
      or exists (select from (select job_id from public.agent_step where tenant_id = swept order by job_id, number limit most) o
        join public.agent_job j on j.tenant_id = swept and j.id = o.job_id and j.ended_at < agent)
    then return true; end if;
  end if;
  return public.has_long_deleted(swept);
end $$;
revoke execute on function needs_sweep(uuid, interval, interval, integer) from public;
grant execute on function needs_sweep(uuid, interval, interval, integer) to tendril_system;
