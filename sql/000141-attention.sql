-- Operators see of any workspace what waits for a person or is stuck: ids and times, and no text.
--
-- The indexes for that are in the order of time, through all workspaces. No statement of one
-- workspace may be planned with them: it would read the rows of all. So where such a statement names
-- the same state, the index has the state in words that do not follow from it.
create policy attention on attempt for select to tendril_system using (state = 'review');
grant select (id, tenant_id, item_id, engagement_id, state, intent_at) on attempt to tendril_system;
create index attempt_review on attempt (intent_at, id) where state = 'review';

create policy attention on channel_reply for select to tendril_system
  using (status in ('held', 'unknown'));
grant select (id, tenant_id, status, created_at) on channel_reply to tendril_system;
create index channel_reply_waiting on channel_reply (created_at, id)
  where left(status, 7) in ('held', 'unknown');

create policy attention on agent_approval for select to tendril_system using (status = 'pending');
grant select (id, tenant_id, status, created_at) on agent_approval to tendril_system;
create index agent_approval_waiting on agent_approval (created_at, id)
  where left(status, 7) = 'pending';

create policy attention on agent_job for select to tendril_system using (held_since is not null);
grant select (id, tenant_id, held_since) on agent_job to tendril_system;
create index agent_job_held on agent_job (held_since, id) where held_since > '-infinity';

-- A generation that waits for the billing. Rows are found by their workspaces, few of which have
-- that: an index on the payload would make every change of it dearer.
create policy attention on work for select to tendril_system
  using (lane = 'generation' and payload ? 'heldSince');
grant select (created_at) on work to tendril_system;

create policy attention on connection for select to tendril_system using (true);
grant select (id, tenant_id, status, updated_at) on connection to tendril_system;

create policy attention on channel_connection for select to tendril_system
  using (status = 'failing');
grant select (id, tenant_id, status, checked_at, created_at) on channel_connection
  to tendril_system;

create policy attention on mcp_server for select to tendril_system
  using (enabled and status = 'failing');
grant select (id, tenant_id, enabled, status, looked_at, created_at) on mcp_server
  to tendril_system;

create policy attention on webhook_endpoint for select to tendril_system
  using (status = 'disabled' and failing_since is not null);
grant select (id, tenant_id, status, failing_since) on webhook_endpoint to tendril_system;
