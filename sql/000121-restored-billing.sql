-- What is held because billing is not in order is due once it is. `nudged`: rows of work were changed by no letter, so that the process that
-- has the workspace awake does not know of them.
alter table actor add column nudged boolean not null default false;
create index actor_nudged on actor (owner) where nudged;

-- More than that find out by themselves, or by the first of them that goes on.
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
  for each row when (old.billing is distinct from new.billing and new.billing = 'ok') execute function wake_held();
