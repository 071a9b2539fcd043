-- Operators see of any workspace the posts and engagements that wait because they may have gone out
-- before a backup or copy was made: ids and times, and no text.
--
-- The indexes are in the order of time, through all workspaces. No statement of one workspace says
-- "isfinite", so none is planned with them.
create policy attention on item for select to tendril_system
  using (status = 'approved' and restored_as_of is not null);
grant select (id, tenant_id, status, restored_as_of) on item to tendril_system;
create index item_waiting_restored on item (restored_as_of, id) where isfinite(restored_as_of);

create policy attention on engagement for select to tendril_system
  using (status = 'approved' and restored_as_of is not null);
grant select (id, tenant_id, status, restored_as_of) on engagement to tendril_system;
create index engagement_waiting_restored on engagement (restored_as_of, id)
  where isfinite(restored_as_of);
