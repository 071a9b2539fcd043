-- Since when all automation is paused, and who paused it, as {kind, id}; null while it is not.
alter table actor add column paused_at timestamptz, add column paused_by jsonb;
update actor a set paused_at = p.at, paused_by = jsonb_build_object('kind', p.actor_kind, 'id', p.actor_id)
  from (select distinct on (tenant_id) tenant_id, at, actor_kind, actor_id from audit
    where operation = 'growth.automation.pauseAll' order by tenant_id, id desc) p
  where a.paused and p.tenant_id = a.tenant_id;
grant update (paused_at, paused_by) on actor to tendril_app;

-- The last reads of the timeline while it was in doubt, oldest first.
alter table attempt add column reads jsonb not null default '[]';
