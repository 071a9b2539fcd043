-- The operator's kill switch over all workspaces. It stands beside the hold, in the row that the gate
-- of every letter reads, so no workspace is written or woken for it.
alter table hold
  -- since when nothing unattended starts in any workspace; null while that is not so
  add column paused_since timestamptz,
  -- the operator, as their machine calls them
  add column paused_by text,
  add column paused_reason text check (length(paused_reason) between 1 and 500),
  add constraint hold_paused check ((paused_since is null) = (paused_by is null)
    and (paused_since is not null or paused_reason is null));
grant update (paused_since, paused_by, paused_reason) on hold to tendril_system;

-- Also then only manual reads take place.
create or replace function item_doubt(item uuid, review boolean) returns jsonb
language sql stable begin atomic
  select jsonb_build_object('cause', coalesce(a.doubt_cause, 'no_answer'),
      'resolves', case when a.returns_from is null or item_doubt.review then 'by_person' else 'by_itself' end,
      'next_read_at', (select greatest(w.run_at, now()) from work w join actor on true join hold on true
        where w.kind = 'reconcile' and w.ref_id = item_doubt.item
          and (w.origin = 'manual' or not actor.paused and hold.paused_since is null)))
    from attempt a where a.item_id = item_doubt.item and a.state in ('doubt', 'review');
end;

-- The pause of all workspaces that a server has carried out, by its hold.paused_since: what it had
-- claimed and not sent is recalled.
alter table node add column recalled timestamptz;

-- Meanwhile a workspace is woken only for what its people have asked for.
create policy asked on work for select to tendril_system
  using (origin = 'manual' and (select paused_since from hold) is not null);

-- Operators see what is under way in any workspace, by ids and times. The rows are not indexed for
-- that: it would make every claim dearer, and such a question comes with an emergency alone.
create policy under_way on work for select to tendril_system using (state = 'running');
grant select (claimed_by) on work to tendril_system;
create policy under_way on attempt for select to tendril_system using (state = 'open');
grant select (origin, lease_until, doubt_cause) on attempt to tendril_system;
